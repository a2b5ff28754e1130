//! Element types as the catalogs spell them.

/// A type of a matrix, of the computation, or of the input of the matrix instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DataType {
    Half,
    BFloat16,
    Float,
    Double,
    ComplexFloat,
    ComplexDouble,
    Int8,
    Int8x4,
    Int32,
    Int64,
    XFloat32,
    Float8,
    BFloat8,
    Float8BFloat8,
    BFloat8Float8,
    Float8Fnuz,
    BFloat8Fnuz,
    Float8BFloat8Fnuz,
    BFloat8Float8Fnuz,
}

/// The spelling in catalogs, and on the command line where a user can name the type.
const NAMES: &[(DataType, &str, &str)] = &[
    (DataType::Half, "Half", "f16"),
    (DataType::BFloat16, "BFloat16", "bf16"),
    (DataType::Float, "Float", "f32"),
    (DataType::Double, "Double", "f64"),
    (DataType::ComplexFloat, "ComplexFloat", ""),
    (DataType::ComplexDouble, "ComplexDouble", ""),
    (DataType::Int8, "Int8", "i8"),
    (DataType::Int8x4, "Int8x4", ""),
    (DataType::Int32, "Int32", "i32"),
    (DataType::Int64, "Int64", ""),
    (DataType::XFloat32, "XFloat32", ""),
    (DataType::Float8, "Float8", "f8e4m3"),
    (DataType::BFloat8, "BFloat8", "f8e5m2"),
    (DataType::Float8BFloat8, "Float8BFloat8", ""),
    (DataType::BFloat8Float8, "BFloat8Float8", ""),
    (DataType::Float8Fnuz, "Float8_fnuz", "f8e4m3fnuz"),
    (DataType::BFloat8Fnuz, "BFloat8_fnuz", "f8e5m2fnuz"),
    (DataType::Float8BFloat8Fnuz, "Float8BFloat8_fnuz", ""),
    (DataType::BFloat8Float8Fnuz, "BFloat8Float8_fnuz", ""),
];

impl DataType {
    /// A type by its name in catalogs; None for an unknown type.
    pub fn in_catalog(name: &str) -> Option<DataType> {
        NAMES.iter().find(|entry| entry.1 == name).map(|entry| entry.0)
    }

    /// A type by its name on the command line.
    pub fn from_user(name: &str) -> Option<DataType> {
        NAMES.iter().find(|entry| !entry.2.is_empty() && entry.2 == name).map(|entry| entry.0)
    }

    /// The name on the command line, or the catalog's name if users cannot choose the type.
    pub fn name(self) -> &'static str {
        NAMES
            .iter()
            .find(|entry| entry.0 == self)
            .map_or("?", |entry| if entry.2.is_empty() { entry.1 } else { entry.2 })
    }

    /// The names that [`DataType::from_user`] accepts.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().map(|entry| entry.2).filter(|name| !name.is_empty())
    }

    pub fn bytes(self) -> u64 {
        match self {
            DataType::ComplexDouble => 16,
            DataType::Double | DataType::ComplexFloat | DataType::Int64 => 8,
            DataType::Float | DataType::XFloat32 | DataType::Int32 | DataType::Int8x4 => 4,
            DataType::Half | DataType::BFloat16 => 2,
            _ => 1,
        }
    }

    pub fn is_float8(self) -> bool {
        matches!(self, DataType::Float8 | DataType::BFloat8)
    }

    pub fn is_float8_fnuz(self) -> bool {
        matches!(self, DataType::Float8Fnuz | DataType::BFloat8Fnuz)
    }
}
