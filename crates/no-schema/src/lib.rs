//! An empty derive macro. The `schema` crate uses it as `JsonSchema` where no schema is generated.
#![forbid(unsafe_code)]

use proc_macro::TokenStream;

#[proc_macro_derive(JsonSchema, attributes(schemars))]
pub fn no_schema(_: TokenStream) -> TokenStream {
    TokenStream::new()
}
