//! One Rust line per sentence.

/// The message of this key: `say!("gguf-text", offset)`, `say!("elf-short", at = place.start, need)`. Compiles only where a message
/// in `locales/en` has the key and uses exactly these variables. Errors become messages inside it.
///
/// ```
/// assert_eq!(say::say!("gguf-text", offset = 8).to_string(), "the string at byte 8 is not UTF-8");
/// ```
/// ```compile_fail
/// say::say!("gguf-no-such-sentence");
/// ```
/// ```compile_fail
/// say::say!("gguf-text", offset = 8, length = 2);
/// ```
#[macro_export]
macro_rules! say {
    ($key:expr $(, $name:ident $(= $value:expr)?)* $(,)?) => {{
        const _: () = $crate::table::check($key, &[$(stringify!($name)),*]);
        #[allow(unused_imports, reason = "a message without variables needs no trait")]
        use $crate::ToArg as _;
        $crate::Message::new($key, vec![$((stringify!($name), $crate::say!(@arg $name $(= $value)?))),*])
    }};
    (@arg $name:ident) => { $name.to_arg() };
    (@arg $name:ident = $value:expr) => { ($value).to_arg() };
}

/// A message without variables as a [`Key`](crate::Key), checked like [`say!`](crate::say).
#[macro_export]
macro_rules! key {
    ($key:expr) => {{
        const _: () = $crate::table::check($key, &[]);
        $crate::Key::new($key)
    }};
}

/// A message as an [`Error`](crate::Error).
#[macro_export]
macro_rules! error {
    ($($message:tt)*) => { $crate::Error::from($crate::say!($($message)*)) };
}

/// Ends the function with a message as its error.
#[macro_export]
macro_rules! bail {
    ($($message:tt)*) => { return Err($crate::say!($($message)*).into()) };
}

/// Ends the function with a message as its error, unless the condition holds.
#[macro_export]
macro_rules! ensure {
    ($holds:expr, $($message:tt)*) => { if !$holds { $crate::bail!($($message)*) } };
}

/// The sentences of an error type: `Say`, `Display` in English and `Error`, one line per variant.
///
/// ```
/// #[derive(Debug)]
/// enum ReadError {
///     NotAFile { path: std::path::PathBuf, what: String },
///     Magic { found: Vec<u8> },
///     Text { offset: u64, len: u64 },
///     Io(std::io::Error),
/// }
///
/// say::worded! { ReadError {
///     // The fields have the names of the variables.
///     NotAFile { path, what } => "inventory-not-a-file",
///     // Other arguments: in parentheses, as in `say!`.
///     Magic { found } => "gguf-magic" (found = format!("{found:02x?}")),
///     // Fields that the sentence does not use are left out.
///     Text { offset } => "gguf-text",
///     // Said by what is inside.
///     Io(error) => error,
/// }}
/// assert_eq!(ReadError::Text { offset: 8, len: 2 }.to_string(), "the string at byte 8 is not UTF-8");
/// ```
#[macro_export]
macro_rules! worded {
    (struct $type:ident { $($field:ident),* } => $key:literal $(($($args:tt)*))?) => {
        impl $crate::Say for $type {
            fn message(&self) -> $crate::Message {
                let $type { $($field,)* .. } = self;
                $crate::worded!(@message $key; $($field)*; $(($($args)*))?)
            }
        }
        $crate::spoken!($type);
    };
    ($type:ident { $(
        $variant:ident $({ $($field:ident),* $(,)? })? $(($($value:ident),*))? => $key:tt $(($($args:tt)*))?
    ),* $(,)? }) => {
        impl $crate::Say for $type {
            fn message(&self) -> $crate::Message {
                match self {$(
                    $type::$variant $({ $($field,)* .. })? $(($($value),*))? =>
                        $crate::worded!(@message $key; $($($field)*)? $($($value)*)?; $(($($args)*))?),
                )*}
            }
        }
        $crate::spoken!($type);
    };
    (@message $key:literal; $($field:ident)*;) => { $crate::say!($key $(, $field)*) };
    (@message $key:literal; $($field:ident)*; ($($args:tt)*)) => { $crate::say!($key, $($args)*) };
    (@message $inner:ident; $($field:ident)*;) => { $crate::Say::message($inner) };
}

/// `Display` in English and `Error` for a type that implements `Say` by hand.
#[macro_export]
macro_rules! spoken {
    ($($type:ty),*) => {$(
        impl ::std::fmt::Display for $type {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Display::fmt(&$crate::Say::message(self), f)
            }
        }
        impl ::std::error::Error for $type {}
    )*};
}

/// `From` for variants that only wrap another error: `say::wraps! { RunError { Open(OpenError), Io(io::Error) }}`.
#[macro_export]
macro_rules! wraps {
    ($type:ident { $($variant:ident($inner:ty)),* $(,)? }) => {$(
        impl From<$inner> for $type {
            fn from(inner: $inner) -> $type {
                $type::$variant(inner)
            }
        }
    )*};
}

/// For a type whose `Display` is used as the argument.
#[macro_export]
macro_rules! as_text {
    ($($type:ty),* $(,)?) => {$(
        impl $crate::ToArg for $type {
            fn to_arg(&self) -> $crate::Arg {
                $crate::Arg::Text(self.to_string())
            }
        }
    )*};
}

/// An enum whose variants have names in data: `named! { pub enum Vendor: name { Amd = "amd", Nvidia = "nvidia" } }` adds
/// `Vendor::name(self)`. With `name and ALL` it also adds the list of all variants.
#[macro_export]
macro_rules! named {
    ($(#[$meta:meta])* $vis:vis enum $type:ident: $name:ident and ALL { $($(#[$about:meta])* $variant:ident = $text:literal),* $(,)? }) => {
        $crate::named! { $(#[$meta])* $vis enum $type: $name { $($(#[$about])* $variant = $text),* } }
        impl $type {
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];
        }
    };
    ($(#[$meta:meta])* $vis:vis enum $type:ident: $name:ident { $($(#[$about:meta])* $variant:ident = $text:literal),* $(,)? }) => {
        $(#[$meta])*
        $vis enum $type { $($(#[$about])* $variant),* }
        impl $type {
            /// The name in data and in the message files.
            pub fn $name(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }
        }
    };
}
