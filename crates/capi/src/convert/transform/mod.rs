//! Data transform expressions: arithmetic that reads and writes apply to each element.
//!
//! The datatype in memory decides the arithmetic: each operation with a constant is computed in
//! `f64`, and its result is converted to the datatype in memory at once. Operations between
//! elements are computed in the datatype in memory. The C library behaves in the same way.

mod numbers;
mod parse;

use std::sync::Arc;

use hyperslab::Datatype;
use hyperslab::datatype::ByteOrder;

use crate::convert::defaults;
use crate::error::{Failure, Outcome, codes};
use numbers::Number;

/// The number of elements of one step. The step bounds the memory of intermediate results.
const STEP: usize = 4096;

/// An arithmetic operator of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    /// The operator `+`.
    Add,
    /// The operator `-`.
    Subtract,
    /// The operator `*`.
    Multiply,
    /// The operator `/`.
    Divide,
}

/// A constant of an expression.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Constant {
    /// An integer. An operation of two integers is computed in integers.
    Integer(i64),
    /// A number with a decimal point or an exponent.
    Float(f64),
}

/// A parsed expression.
#[derive(Debug, Clone, PartialEq)]
enum Expression {
    /// The element.
    Element,
    /// A constant.
    Constant(Constant),
    /// An operation on two expressions.
    Operation(Operator, Box<(Expression, Expression)>),
}

/// A data transform expression of a transfer list.
#[derive(Debug, Clone)]
pub struct Transform {
    /// The expression as the program wrote it.
    pub text: Arc<[u8]>,
    /// The parsed expression.
    expression: Arc<Expression>,
}

/// The value of an expression for the elements of one step.
#[derive(Debug)]
enum Value<T> {
    /// The same value for all elements.
    Constant(f64),
    /// One value for each element.
    Elements(Vec<T>),
}

impl Transform {
    /// Parses a data transform expression.
    ///
    /// # Errors
    /// Fails if the text is not an expression.
    pub fn new(text: &[u8]) -> Outcome<Self> {
        Ok(Self { text: text.into(), expression: Arc::new(parse::parse(text)?) })
    }

    /// Returns true if the expression returns the element itself.
    pub fn is_identity(&self) -> bool {
        *self.expression == Expression::Element
    }

    /// Applies the expression to elements of the type `datatype` in memory.
    ///
    /// # Errors
    /// Fails if the datatype is not a number of this machine, or if an integer element is divided
    /// by a zero element.
    pub fn apply(&self, datatype: &Datatype, elements: &mut [u8]) -> Outcome<()> {
        if self.is_identity() {
            return Ok(());
        }
        let order = ByteOrder::NATIVE;
        let is = |other: Datatype| *datatype == other;
        match datatype.size {
            1 if is(Datatype::i8()) => self.apply_to::<i8, 1>(elements),
            1 if is(Datatype::u8()) => self.apply_to::<u8, 1>(elements),
            2 if is(Datatype::i16(order)) => self.apply_to::<i16, 2>(elements),
            2 if is(Datatype::u16(order)) => self.apply_to::<u16, 2>(elements),
            4 if is(Datatype::i32(order)) => self.apply_to::<i32, 4>(elements),
            4 if is(Datatype::u32(order)) => self.apply_to::<u32, 4>(elements),
            8 if is(Datatype::i64(order)) => self.apply_to::<i64, 8>(elements),
            8 if is(Datatype::u64(order)) => self.apply_to::<u64, 8>(elements),
            4 if is(Datatype::f32(order)) => self.apply_to::<f32, 4>(elements),
            8 if is(Datatype::f64(order)) => self.apply_to::<f64, 8>(elements),
            16 if is(Datatype::x87(16)) => self.apply_as_f64(datatype, elements),
            _ => {
                let text = format!(
                    "could not find matching type: a data transform applies to native numbers, not to {datatype}"
                );
                Err(Failure::new(codes::PLINE, codes::UNSUPPORTED, text))
            }
        }
    }

    /// Applies the expression to floating-point numbers that Rust has no type for, with the
    /// precision of `f64`.
    fn apply_as_f64(&self, datatype: &Datatype, elements: &mut [u8]) -> Outcome<()> {
        let (f64, size) = (Datatype::f64(ByteOrder::NATIVE), datatype.size as usize);
        let (to, from) = (defaults().plan(datatype, &f64)?, defaults().plan(&f64, datatype)?);
        let mut numbers = [0; 8 * STEP];
        for step in elements.chunks_mut(size * STEP) {
            let count = step.len() / size;
            let Some(numbers) = numbers.get_mut(..8 * count) else { break };
            to.convert(step, numbers, count)?;
            self.apply_to::<f64, 8>(numbers)?;
            from.convert(numbers, step, count)?;
        }
        Ok(())
    }

    /// Applies the expression to numbers of the type `T` with `SIZE` bytes each.
    fn apply_to<T: Number<SIZE>, const SIZE: usize>(&self, bytes: &mut [u8]) -> Outcome<()> {
        let (all, _) = bytes.as_chunks_mut::<SIZE>();
        for step in all.chunks_mut(STEP) {
            let elements: Vec<T> = step.iter().map(|bytes| T::from_memory(*bytes)).collect();
            match self.expression.value(&elements)? {
                Value::Constant(constant) => step.fill(T::of(constant).to_memory()),
                Value::Elements(values) => {
                    for (bytes, value) in step.iter_mut().zip(values) {
                        *bytes = value.to_memory();
                    }
                }
            }
        }
        Ok(())
    }
}

impl Expression {
    /// Returns the values of the expression for the given elements.
    fn value<T: Number<SIZE>, const SIZE: usize>(&self, elements: &[T]) -> Outcome<Value<T>> {
        let (operator, operands) = match self {
            Self::Element => return Ok(Value::Elements(elements.to_vec())),
            Self::Constant(constant) => return Ok(Value::Constant(constant.number())),
            Self::Operation(operator, operands) => (*operator, operands.as_ref()),
        };
        Ok(match (operands.0.value(elements)?, operands.1.value(elements)?) {
            (Value::Constant(left), Value::Constant(right)) => Value::Constant(operator.of(left, right)),
            (Value::Elements(mut all), Value::Constant(right)) => {
                all.iter_mut().for_each(|it| *it = T::of(operator.of(it.number(), right)));
                Value::Elements(all)
            }
            (Value::Constant(left), Value::Elements(mut all)) => {
                all.iter_mut().for_each(|it| *it = T::of(operator.of(left, it.number())));
                Value::Elements(all)
            }
            (Value::Elements(mut all), Value::Elements(right)) => {
                for (left, right) in all.iter_mut().zip(right) {
                    *left = left.with(operator, right).ok_or_else(|| {
                        Failure::new(
                            codes::PLINE,
                            codes::BADVALUE,
                            "a data transform divides an integer by zero",
                        )
                    })?;
                }
                Value::Elements(all)
            }
        })
    }
}

impl Operator {
    /// Returns the result of the operator for two numbers.
    fn of(self, left: f64, right: f64) -> f64 {
        match self {
            Self::Add => left + right,
            Self::Subtract => left - right,
            Self::Multiply => left * right,
            Self::Divide => left / right,
        }
    }

    /// Returns the result of the operator for two constants. Returns `None` if an integer result
    /// does not exist or exceeds 64 bits.
    fn of_constants(self, left: Constant, right: Constant) -> Option<Constant> {
        let (Constant::Integer(left), Constant::Integer(right)) = (left, right) else {
            return Some(Constant::Float(self.of(left.number(), right.number())));
        };
        let result = match self {
            Self::Add => left.checked_add(right),
            Self::Subtract => left.checked_sub(right),
            Self::Multiply => left.checked_mul(right),
            Self::Divide => left.checked_div(right),
        };
        result.map(Constant::Integer)
    }
}

impl Constant {
    /// Returns the constant as a floating-point number.
    #[expect(clippy::cast_precision_loss, reason = "the C library computes with `double` too")]
    fn number(self) -> f64 {
        match self {
            Self::Integer(integer) => integer as f64,
            Self::Float(float) => float,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Applies `text` to 32-bit integers.
    fn integers(text: &str, values: &[i32]) -> Vec<i32> {
        let mut bytes: Vec<u8> = values.iter().flat_map(|value| value.to_memory()).collect();
        let transform = Transform::new(text.as_bytes()).expect(text);
        transform.apply(&Datatype::i32(ByteOrder::NATIVE), &mut bytes).expect(text);
        bytes.as_chunks().0.iter().map(|bytes| i32::from_memory(*bytes)).collect()
    }

    /// Applies `text` to 64-bit floating-point numbers.
    fn floats(text: &str, values: &[f64]) -> Vec<f64> {
        let mut bytes: Vec<u8> = values.iter().flat_map(|value| value.to_memory()).collect();
        let transform = Transform::new(text.as_bytes()).expect(text);
        transform.apply(&Datatype::f64(ByteOrder::NATIVE), &mut bytes).expect(text);
        bytes.as_chunks().0.iter().map(|bytes| f64::from_memory(*bytes)).collect()
    }

    /// The expected values are those of libhdf5 2.0.
    #[test]
    fn integers_are_cut_at_each_operation() {
        let values = [0, 1, 2, 3, 5, 10, 100];
        assert_eq!(integers("(5/9.0)*(x-32)", &values), [-17, -17, -16, -16, -15, -12, 37]);
        assert_eq!(integers("(x/2.0)*2", &values), [0, 0, 2, 2, 4, 10, 100]);
        assert_eq!(integers("x*1.8+32", &values), [32, 33, 35, 37, 41, 50, 212]);
        assert_eq!(integers("5/9*x", &values), [0; 7]);
        assert_eq!(integers("x*5/9", &values), [0, 0, 1, 1, 2, 5, 55]);
        assert_eq!(integers("x*x-x", &values), [0, 0, 2, 6, 20, 90, 9900]);
        assert_eq!(integers("5/x", &values), [i32::MIN, 5, 2, 1, 1, 0, 0]);
        assert_eq!(integers("-3", &values), [-3; 7]);
        assert_eq!(integers("1.5e-1*x", &values), [0, 0, 0, 0, 0, 1, 15]);
        assert_eq!(integers("x--1", &values), [1, 2, 3, 4, 6, 11, 101]);
    }

    #[test]
    fn floats_keep_their_fractions() {
        assert_eq!(floats("(x/2.0)*2", &[3.0, 5.0]), [3.0, 5.0]);
        assert_eq!(floats("1/2*x", &[3.0]), [0.0]);
        assert_eq!(floats(" x + .5", &[3.0]), [3.5]);
        assert_eq!(floats("x/0", &[3.0]), [f64::INFINITY]);
    }

    #[test]
    fn other_texts_are_refused() {
        let deep = "(".repeat(100) + "x" + &")".repeat(100);
        let long = "x".to_owned() + &"+x".repeat(2000);
        let signs = "-".repeat(100) + "x";
        for text in
            ["", "(x", "x)", "x x", "2x", "x**2", "x^2", "x+1;", "1/0", "1e", "x+", &deep, &long, &signs]
        {
            assert!(Transform::new(text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn elements_that_are_no_native_numbers_are_refused() {
        let transform = Transform::new(b"x+1").expect("expression");
        let other = if ByteOrder::NATIVE == ByteOrder::LittleEndian {
            ByteOrder::BigEndian
        } else {
            ByteOrder::LittleEndian
        };
        assert!(transform.apply(&Datatype::i32(other), &mut [0; 4]).is_err());
        assert!(Transform::new(b"x").expect("expression").apply(&Datatype::i32(other), &mut [0; 4]).is_ok());
        let division = Transform::new(b"x/x").expect("expression");
        assert!(division.apply(&Datatype::i32(ByteOrder::NATIVE), &mut [0; 4]).is_err());
    }
}
