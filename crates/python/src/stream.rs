//! Rows that another library hands over: an Arrow C stream, read where it is.

use std::ffi::CStr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{ArrayReader, ArrayRef};
use arrow_schema::{ArrowError, FieldRef};
use errorbar::analysis::Diagnostic;
use errorbar_table::ArrowTable;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::call::Cancelled;
use crate::error::exception;

/// What capsules of streams are called.
const NAME: &CStr = c"arrow_array_stream";

/// The table of an object with `__arrow_c_stream__`.
pub(crate) fn stream_table(data: &Bound<'_, PyAny>, cancelled: &Cancelled) -> PyResult<ArrowTable> {
    let reader = CancellableReader { reader: arrays(data)?, cancelled: Arc::clone(cancelled) };
    ArrowTable::from_arrays(Box::new(reader))
        .map_err(|error| exception(data.py(), &Diagnostic::from(error)).map_or_else(|e| e, PyErr::from_value))
}

/// The arrays of an object with `__arrow_c_stream__`: structures, one row of which is a row of the table. They are not read
/// as batches, which drop which rows are null.
pub(crate) fn arrays(data: &Bound<'_, PyAny>) -> PyResult<ArrayStreamReader> {
    let capsule = data.call_method0("__arrow_c_stream__")?;
    let stream =
        capsule.cast::<PyCapsule>().ok().and_then(|capsule| capsule.pointer_checked(Some(NAME)).ok());
    let pointer = stream.ok_or_else(|| {
        let kind = data.get_type();
        PyTypeError::new_err(format!(
            "`__arrow_c_stream__` of {kind} returned {capsule}, no capsule of a stream"
        ))
    })?;
    // SAFETY: What a capsule of this name points to is an `ArrowArrayStream`, by Arrow's PyCapsule interface. It is moved out,
    // so that a stream that was released stays behind, as that interface demands. Nothing else reads it meanwhile,
    // because the capsule was made for this call.
    #[allow(unsafe_code, reason = "a pointer in a capsule cannot be followed without")]
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.cast().as_ptr()) };
    ArrayStreamReader::try_new(stream).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// A stream that ends once its caller is gone: it may call Python, which may be about to end.
struct CancellableReader {
    reader: ArrayStreamReader,
    cancelled: Cancelled,
}

impl Iterator for CancellableReader {
    type Item = Result<ArrayRef, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.cancelled.load(Ordering::Relaxed) {
            true => Some(Err(ArrowError::ComputeError("interrupted".to_owned()))),
            // The library panics on arrays that are not as their types say, such as structures with shorter fields.
            false => catch_unwind(AssertUnwindSafe(|| self.reader.next())).unwrap_or_else(|_| {
                Some(Err(ArrowError::CDataInterface("arrays that do not fit together".to_owned())))
            }),
        }
    }
}

impl ArrayReader for CancellableReader {
    fn field(&self) -> &FieldRef {
        self.reader.field()
    }
}
