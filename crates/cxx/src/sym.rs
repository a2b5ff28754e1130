//! Interned spellings. Punctuators and the keywords that the parser looks for have fixed numbers, so that they can be
//! matched like constants.

use crate::dialect::Word;
use std::sync::Arc;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Sym(pub u32);

pub type FxMap<K, V> = rustc_hash::FxHashMap<K, V>;
pub type FxSet<K> = rustc_hash::FxHashSet<K>;

#[derive(Debug, Clone)]
pub struct Interner {
    map: FxMap<Arc<str>, Sym>,
    names: Vec<Arc<str>>,
    /// Spellings of one byte, of which most of a source's tokens are; the number plus one.
    single: [u32; 128],
    /// The words of a dialect: their spellings follow the fixed ones.
    words: Vec<Word>,
}

impl Default for Interner {
    fn default() -> Self {
        Interner::with(&[])
    }
}

impl Interner {
    /// The fixed spellings, and after them those of a dialect.
    pub fn with(words: &[(&str, Word)]) -> Interner {
        let mut interner = Interner {
            map: FxMap::default(),
            names: Vec::new(),
            single: [0; 128],
            words: Vec::with_capacity(words.len()),
        };
        for text in SEED {
            interner.intern(text);
        }
        for &(text, word) in words {
            if interner.get(text).is_none() {
                interner.intern(text);
                interner.words.push(word);
            }
        }
        interner
    }

    /// What a spelling means in the dialect.
    pub fn word(&self, sym: Sym) -> Option<Word> {
        self.words.get((sym.0 as usize).checked_sub(SEED.len())?).copied()
    }

    /// Whether `sym` cannot stand where a name must.
    pub fn is_keyword(&self, sym: Sym) -> bool {
        (IF..=CONSTINIT).contains(&sym) || self.word(sym).is_some()
    }

    pub fn intern(&mut self, text: &str) -> Sym {
        if let &[byte] = text.as_bytes() {
            if let Some(known) = self.single.get(usize::from(byte)).and_then(|known| known.checked_sub(1)) {
                return Sym(known);
            }
            let sym = self.intern_any(text);
            if let Some(slot) = self.single.get_mut(usize::from(byte)) {
                *slot = sym.0.saturating_add(1);
            }
            return sym;
        }
        self.intern_any(text)
    }

    fn intern_any(&mut self, text: &str) -> Sym {
        if let Some(&sym) = self.map.get(text) {
            return sym;
        }
        let sym = Sym(self.names.len() as u32);
        let text: Arc<str> = text.into();
        self.names.push(text.clone());
        self.map.insert(text, sym);
        sym
    }

    pub fn get(&self, text: &str) -> Option<Sym> {
        self.map.get(text).copied()
    }

    /// All spellings by their number.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|text| &**text)
    }

    pub fn text(&self, sym: Sym) -> &str {
        self.names.get(sym.0 as usize).map_or("?", |text| text)
    }
}

macro_rules! fixed {
    ($($name:ident $text:literal)*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms, reason = "the variants are named as the constants")]
        enum Fixed { $($name),* }
        $(pub const $name: Sym = Sym(Fixed::$name as u32);)*
        const SEED: &[&str] = &[$($text),*];
    };
}

fixed! {
    LPAREN "(" RPAREN ")" LBRACE "{" RBRACE "}" LBRACKET "[" RBRACKET "]" SEMI ";" COMMA "," DOT "." ARROW "->"
    SCOPE "::" COLON ":" QUESTION "?" ELLIPSIS "..." HASH "#" PASTE "##"
    PLUS "+" MINUS "-" STAR "*" SLASH "/" PERCENT "%" AMP "&" PIPE "|" CARET "^" TILDE "~" NOT "!"
    ASSIGN "=" LT "<" GT ">" LE "<=" GE ">=" EQ "==" NE "!=" ANDAND "&&" OROR "||" SHL "<<" TRIPLE_LT "<<<"
    INC "++" DEC "--" ADD_ASSIGN "+=" SUB_ASSIGN "-=" MUL_ASSIGN "*=" DIV_ASSIGN "/=" REM_ASSIGN "%="
    AND_ASSIGN "&=" OR_ASSIGN "|=" XOR_ASSIGN "^=" SHL_ASSIGN "<<="
    IF "if" ELSE "else" FOR "for" WHILE "while" DO "do" SWITCH "switch" CASE "case" DEFAULT "default" BREAK "break"
    CONTINUE "continue" RETURN "return" GOTO "goto" TRY "try" CATCH "catch" THROW "throw" NEW "new" DELETE "delete"
    STRUCT "struct" CLASS "class" UNION "union" ENUM "enum" TYPEDEF "typedef" USING "using" NAMESPACE "namespace"
    TEMPLATE "template" TYPENAME "typename" EXTERN "extern" STATIC "static" CONST "const" CONSTEXPR "constexpr"
    INLINE "inline" VOLATILE "volatile" REGISTER "register" MUTABLE "mutable" VIRTUAL "virtual" EXPLICIT "explicit"
    FRIEND "friend" OPERATOR "operator" PUBLIC "public" PRIVATE "private" PROTECTED "protected" NOEXCEPT "noexcept"
    OVERRIDE "override" FINAL "final" THREAD_LOCAL "thread_local" ALIGNAS "alignas" ALIGNOF "alignof" SIZEOF "sizeof"
    DECLTYPE "decltype" AUTO "auto" VOID "void" BOOL "bool" BOOL_C "_Bool" CHAR "char" SHORT "short" INT "int" LONG "long"
    FLOAT "float" DOUBLE "double" SIGNED "signed" UNSIGNED "unsigned" TRUE "true" FALSE "false" NULLPTR "nullptr"
    THIS "this" STATIC_CAST "static_cast" CONST_CAST "const_cast" REINTERPRET_CAST "reinterpret_cast"
    DYNAMIC_CAST "dynamic_cast" STATIC_ASSERT "static_assert" STATIC_ASSERT_C "_Static_assert" ASM "asm" ASM_GNU "__asm__"
    ATTRIBUTE "__attribute__" DECLSPEC "__declspec"
    FORCEINLINE "__forceinline__" NOINLINE "__noinline__" INLINE_GNU "__inline__"
    INLINE_MS "__inline" RESTRICT "restrict" RESTRICT_GNU "__restrict__"
    RESTRICT_MS "__restrict" EXTENSION "__extension__" CONSTEVAL "consteval"
    CONSTINIT "constinit" ALIGN "__align__" STD "std"
    DEFINED "defined" VA_ARGS "__VA_ARGS__" HAS_INCLUDE "__has_include" HAS_BUILTIN "__has_builtin"
    HAS_ATTRIBUTE "__has_attribute" HAS_CPP_ATTRIBUTE "__has_cpp_attribute" HAS_FEATURE "__has_feature"
    HAS_INCLUDE_NEXT "__has_include_next" LINE "__LINE__" COUNTER "__COUNTER__"
    DEFINE "define" UNDEF "undef" INCLUDE "include" IFDEF "ifdef" IFNDEF "ifndef" ELIF "elif" ELIFDEF "elifdef"
    ELIFNDEF "elifndef" ENDIF "endif" PRAGMA_DIR "pragma" ONCE "once"
    INT8_T "int8_t" INT16_T "int16_t" INT32_T "int32_t" INT64_T "int64_t" UINT8_T "uint8_t" UINT16_T "uint16_t"
    UINT32_T "uint32_t" UINT64_T "uint64_t" SIZE_T "size_t" SSIZE_T "ssize_t" PTRDIFF_T "ptrdiff_t" INTPTR_T "intptr_t"
    UINTPTR_T "uintptr_t"
    NULL "NULL" STRING "string" VECTOR "vector" ARRAY "array" ALLOC "alloc" BODY "<body>"
}
