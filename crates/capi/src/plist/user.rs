//! Properties that users add to property list classes and property lists.

use std::ffi::{CString, c_char, c_int, c_void};
use std::sync::Arc;

use parking_lot::RwLock;

use super::image::{Image, ImageFunctions, operation};
use super::{PropertyClass, PropertyList};
use crate::call_user;
use crate::ctypes::{herr_t, hid_t};
use crate::error::stack::text;
use crate::error::{Failure, Outcome, codes};
use crate::h5p_dataset_create::allocation_time;

/// The C type of a user's function that receives the value of a property.
pub type ValueFunction = unsafe extern "C" fn(*const c_char, usize, *mut c_void) -> herr_t;
/// The C type of a user's function that receives a property list and the value of a property.
pub type ListValueFunction = unsafe extern "C" fn(hid_t, *const c_char, usize, *mut c_void) -> herr_t;
/// The C type of a user's function that compares two property values.
pub type CompareFunction = unsafe extern "C" fn(*const c_void, *const c_void, usize) -> c_int;

/// The user's functions that the library calls for one property of a property list.
#[derive(Debug, Clone, Copy, Default)]
pub struct PropertyCallbacks {
    /// The function that the library calls when a list is created with the property.
    pub create: Option<ValueFunction>,
    /// The function that the library calls before it sets a value.
    pub set: Option<ListValueFunction>,
    /// The function that the library calls when a program reads the value.
    pub get: Option<ListValueFunction>,
    /// The function that the library calls before it removes the property or replaces its value.
    pub delete: Option<ListValueFunction>,
    /// The function that the library calls when a list is copied.
    pub copy: Option<ValueFunction>,
    /// The function that compares two values; `None` for a comparison of bytes.
    pub compare: Option<CompareFunction>,
    /// The function that the library calls when a list is closed.
    pub close: Option<ValueFunction>,
}

/// A property that a user added to a property list class or a property list.
#[derive(Debug, Clone)]
pub struct Property {
    /// The name of the property.
    pub name: Vec<u8>,
    /// The bytes of the value; their number is the size of the property.
    pub value: Vec<u8>,
    /// The user's functions for the property.
    pub callbacks: PropertyCallbacks,
}

impl Property {
    /// Returns the name of the user's property as a C string.
    fn c_name(&self) -> CString {
        text(&self.name)
    }

    /// Calls a user's function with the value of the user's property, which the function may
    /// change.
    ///
    /// # Errors
    /// Fails if the user's function fails. `subject` is the error text.
    pub fn call(&mut self, function: Option<ValueFunction>, subject: &'static str) -> Outcome<()> {
        let Some(function) = function else { return Ok(()) };
        let (name, size) = (self.c_name(), self.value.len());
        if call_user!(function, name.as_ptr(), size, self.value.as_mut_ptr().cast()) < 0 {
            return Err(Failure::new(codes::PLIST, codes::CALLBACK, subject));
        }
        Ok(())
    }

    /// Calls a user's function with the identifier of a property list and the value of the user's
    /// property, which the function may change.
    ///
    /// # Errors
    /// Fails if the user's function fails. `subject` is the error text.
    pub fn call_in(
        &mut self,
        list: hid_t,
        function: Option<ListValueFunction>,
        subject: &'static str,
    ) -> Outcome<()> {
        let Some(function) = function else { return Ok(()) };
        let (name, size) = (self.c_name(), self.value.len());
        if call_user!(function, list, name.as_ptr(), size, self.value.as_mut_ptr().cast()) < 0 {
            return Err(Failure::new(codes::PLIST, codes::CALLBACK, subject));
        }
        Ok(())
    }

    /// Returns whether two user's properties have the same name, functions and value.
    pub fn equals(&self, other: &Self) -> bool {
        if self.name != other.name || self.value.len() != other.value.len() {
            return false;
        }
        match self.callbacks.compare {
            None => self.value == other.value,
            Some(compare) => {
                let (first, second) = (self.value.as_ptr().cast(), other.value.as_ptr().cast());
                call_user!(compare, first, second, self.value.len()) == 0
            }
        }
    }
}

/// The properties that a user added to a property list class or list, in the order of their
/// creation.
#[derive(Debug, Clone, Default)]
pub struct Properties {
    /// The properties in the order of their creation.
    pub list: Vec<Property>,
}

impl Properties {
    /// Returns the user's property with the given name.
    pub fn find(&self, name: &[u8]) -> Option<&Property> {
        self.list.iter().find(|property| property.name == name)
    }

    /// Adds a user's property in place of an earlier property with the same name, and returns the
    /// earlier property.
    pub fn put(&mut self, property: Property) -> Option<Property> {
        if let Some(earlier) = self.list.iter_mut().find(|earlier| earlier.name == property.name) {
            return Some(std::mem::replace(earlier, property));
        }
        self.list.push(property);
        None
    }

    /// Removes the user's property with the given name and returns the property.
    pub fn take(&mut self, name: &[u8]) -> Option<Property> {
        let index = self.list.iter().position(|property| property.name == name)?;
        Some(self.list.remove(index))
    }

    /// Returns whether two sets of user's properties contain equal properties.
    pub fn equals(&self, other: &Self) -> bool {
        self.list.len() == other.list.len()
            && self.list.iter().all(|one| other.find(&one.name).is_some_and(|two| one.equals(two)))
    }
}

impl PropertyClass {
    /// Returns the properties that users registered in the property list class and its ancestors. A
    /// property of the class takes precedence over a property of an ancestor with the same name.
    pub fn inherited(&self) -> Properties {
        let mut properties = self.user.read().clone();
        let mut parent = self.parent.as_ref();
        while let Some(class) = parent {
            for property in &class.user.read().list {
                if properties.find(&property.name).is_none() {
                    properties.list.push(property.clone());
                }
            }
            parent = class.parent.as_ref();
        }
        properties
    }
}

impl PropertyList {
    /// Returns a new property list of the given class with the default properties of the library
    /// and of users.
    ///
    /// # Errors
    /// Fails if a user's function for a property fails.
    pub fn create(class: Arc<PropertyClass>) -> Outcome<Self> {
        let mut properties = class.inherited();
        for property in &mut properties.list {
            property.call(property.callbacks.create, "the property's create function failed")?;
        }
        let list = Self::new(class);
        *list.user.write() = properties;
        Ok(list)
    }

    /// Calls the user's copy functions and returns a copy of the property list.
    ///
    /// # Errors
    /// Fails if a user's function for a property fails.
    pub fn copied(&self) -> Outcome<Self> {
        let mut settings = self.settings.read().clone();
        if let super::Settings::FileAccess(access) = &mut settings {
            let functions = ImageFunctions::copied(&access.image_callbacks.callbacks);
            if let Some(image) = access.image.take() {
                access.image = Some(Image::copied(image.bytes(), &functions, operation::COPY)?);
            }
            access.image_callbacks = functions;
        }
        let settings = RwLock::new(settings);
        let mut properties = self.user.read().clone();
        for property in &mut properties.list {
            property.call(property.callbacks.copy, "the property's copy function failed")?;
        }
        Ok(Self { class: Arc::clone(&self.class), settings, user: RwLock::new(properties) })
    }

    /// Returns a copy of the property list. If a user's property cannot be copied, the copy has no
    /// user properties.
    pub fn duplicate(&self) -> Arc<Self> {
        Arc::new(self.copied().unwrap_or_else(|_| {
            let settings = RwLock::new(self.settings.read().clone());
            Self { class: Arc::clone(&self.class), settings, user: RwLock::default() }
        }))
    }

    /// Returns whether two property lists have the same class and equal properties.
    pub fn equals(&self, other: &Self) -> bool {
        if !Arc::ptr_eq(&self.class, &other.class) {
            return false;
        }
        let (first, second) = (self.settings.read().clone(), other.settings.read().clone());
        let (mine, theirs) = (self.user.read().clone(), other.user.read().clone());
        first.equals(second) && mine.equals(&theirs)
    }
}

impl Drop for PropertyList {
    fn drop(&mut self) {
        for property in &mut self.user.get_mut().list {
            // The caller of `drop` cannot receive an error of the user's function.
            let _ = property.call(property.callbacks.close, "the property's close function failed");
        }
    }
}

impl super::Settings {
    /// Returns whether two property lists have equal values for the library's properties.
    pub fn equals(mut self, mut other: Self) -> bool {
        // The debug representations contain all values. Images are compared first, because they may
        // be large.
        if let (Self::FileAccess(one), Self::FileAccess(two)) = (&mut self, &mut other)
            && one.image.take() != two.image.take()
        {
            return false;
        }
        for list in [&mut self, &mut other] {
            if let Self::DatasetCreate(create) = list {
                create.allocation_time = Some(allocation_time(create));
            }
        }
        // Mappings with different descriptions may map the same elements.
        if let (Self::DatasetCreate(one), Self::DatasetCreate(two)) = (&self, &other) {
            return one == two;
        }
        format!("{self:?}") == format!("{other:?}")
    }
}
