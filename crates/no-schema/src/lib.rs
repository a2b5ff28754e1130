//! A derive that makes nothing. The `schema` room has it stand for `JsonSchema` where no schema is made.
#![forbid(unsafe_code)]

use proc_macro::TokenStream;

#[proc_macro_derive(JsonSchema, attributes(schemars))]
pub fn no_schema(_: TokenStream) -> TokenStream {
    TokenStream::new()
}
