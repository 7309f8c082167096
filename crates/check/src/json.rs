//! JSON output of the report of a check.

use serde_json::{Map, Value, json};

use crate::report::{Finding, Report, Usage};

impl Report {
    /// Returns the report of the check as a JSON object. Addresses count from the base address,
    /// sizes are in bytes.
    pub fn to_json(&self) -> Value {
        let usage: Map<String, Value> =
            self.usage.iter().map(|(kind, usage)| (kind.name().to_owned(), usage.to_json())).collect();
        let leaked: Vec<Value> = self.leaked.iter().map(|range| json!([range.start, range.end])).collect();
        json!({
            "schema": 1,
            "name": self.name,
            "sound": self.is_sound(),
            "complete": self.unchecked == 0,
            "faults": self.faults,
            "remarks": self.remarks,
            "unchecked": self.unchecked,
            "base": self.base,
            "end": self.end,
            "length": self.length,
            "objects": self.objects,
            "chunks": self.chunks,
            "findings": self.findings.iter().map(Finding::to_json).collect::<Vec<_>>(),
            "usage": usage,
            "leaked_bytes": self.leaked_bytes(),
            "leaked": leaked,
            "leaked_heap_objects": self.leaked_heap_objects.to_json(),
        })
    }
}

impl Usage {
    fn to_json(self) -> Value {
        json!({"blocks": self.blocks, "bytes": self.bytes})
    }
}

impl Finding {
    fn to_json(&self) -> Value {
        json!({
            "severity": self.severity.to_string(),
            "structure": self.structure,
            "address": self.address,
            "object": self.object,
            "text": self.text,
        })
    }
}
