//! Interned spellings. Punctuators and keywords that the parser uses have fixed numbers, so they can be matched like
//! constants.

use super::vocabulary::Word;
use std::num::NonZeroU128;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Sym(pub u32);

pub type FxMap<K, V> = rustc_hash::FxHashMap<K, V>;
pub type FxSet<K> = rustc_hash::FxHashSet<K>;

/// A set of names, indexed by number.
#[derive(Debug, Clone, Default)]
pub struct SymSet {
    words: Vec<u64>,
    len: usize,
}

impl SymSet {
    #[inline]
    pub fn contains(&self, name: Sym) -> bool {
        self.words.get(name.0 as usize / 64).is_some_and(|word| word >> (name.0 % 64) & 1 == 1)
    }

    /// Inserts a name; false if it was already present.
    pub fn insert(&mut self, name: Sym) -> bool {
        let at = name.0 as usize / 64;
        if at >= self.words.len() {
            self.words.resize(at + 1 + at / 2, 0);
        }
        let Some(word) = self.words.get_mut(at) else { return false };
        let bit = 1 << (name.0 % 64);
        let fresh = *word & bit == 0;
        *word |= bit;
        self.len += usize::from(fresh);
        fresh
    }

    pub fn remove(&mut self, name: Sym) {
        if let Some(word) = self.words.get_mut(name.0 as usize / 64) {
            let bit = 1 << (name.0 % 64);
            self.len -= usize::from(*word & bit != 0);
            *word &= !bit;
        }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds all names of another set.
    pub fn add(&mut self, other: &SymSet) {
        if self.words.len() < other.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        for (word, more) in self.words.iter_mut().zip(&other.words) {
            *word |= more;
        }
        self.len = self.words.iter().map(|word| word.count_ones() as usize).sum();
    }
}

impl Extend<Sym> for SymSet {
    fn extend<T: IntoIterator<Item = Sym>>(&mut self, names: T) {
        for name in names {
            self.insert(name);
        }
    }
}

#[derive(Debug, Clone)]
pub struct Interner {
    /// All spellings, concatenated, and the end of each, by number.
    texts: String,
    ends: Vec<u32>,
    /// An open-addressing hash table: the upper half of the hash, and the number plus one. Never more than half full.
    table: Vec<(u32, u32)>,
    /// A cache of recent short spellings with their numbers: a few hundred words make up most of a source. An empty
    /// place contains 0.
    recent: Vec<(u128, Sym)>,
    /// Spellings of one byte, which are most of the tokens of a source. Each entry is the number plus one.
    single: [u32; 128],
    /// The words of a dialect: their numbers follow the fixed ones.
    words: Vec<Word>,
}

impl Default for Interner {
    fn default() -> Self {
        Interner::with(&[])
    }
}

/// The initial table size. A question to a real program needs about 13,000 spellings.
const ROOM: usize = 1 << 15;

/// The logarithm to base two of the size of the cache.
const RECENT: u32 = 10;

impl Interner {
    /// The fixed spellings, followed by those of a dialect.
    pub fn with(words: &[(&str, Word)]) -> Interner {
        let mut interner = Interner {
            texts: String::new(),
            ends: Vec::new(),
            table: vec![(0, 0); ROOM],
            recent: vec![(0, Sym(0)); 1 << RECENT],
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

    /// An empty interner, for callers that intern nothing.
    pub(crate) fn none() -> Interner {
        Interner {
            texts: String::new(),
            ends: Vec::new(),
            table: vec![(0, 0)],
            recent: Vec::new(),
            single: [0; 128],
            words: Vec::new(),
        }
    }

    /// The meaning of a spelling in the dialect.
    pub fn word(&self, sym: Sym) -> Option<Word> {
        self.words.get((sym.0 as usize).checked_sub(SEED.len())?).copied()
    }

    /// Whether `sym` cannot be used as a name.
    pub fn is_keyword(&self, sym: Sym) -> bool {
        (IF..=CONSTINIT).contains(&sym) || self.word(sym).is_some()
    }

    /// The symbol number of a one-byte spelling, if it has one.
    #[inline]
    pub(crate) fn single(&self, byte: u8) -> Option<Sym> {
        self.single.get(usize::from(byte)).and_then(|known| known.checked_sub(1)).map(Sym)
    }

    pub fn intern(&mut self, text: &str) -> Sym {
        let hash = hash(text.as_bytes());
        let at = match self.find(text, hash) {
            Ok(sym) => return sym,
            Err(at) => at,
        };
        // The limit is 4 GiB of spellings. All sources together need a quarter of that.
        let Ok(end) = u32::try_from(self.texts.len() + text.len()) else { return QUESTION };
        let sym = Sym(self.ends.len() as u32);
        self.texts.push_str(text);
        self.ends.push(end);
        if let &[byte] = text.as_bytes()
            && let Some(place) = self.single.get_mut(usize::from(byte))
        {
            *place = sym.0 + 1;
        }
        if let Some(place) = self.table.get_mut(at) {
            *place = ((hash >> 32) as u32, sym.0 + 1);
        }
        if self.ends.len() * 2 > self.table.len() {
            self.grow();
        }
        sym
    }

    /// Interns a spelling that is given as a number made of its bytes.
    #[inline]
    pub(crate) fn intern_short<'t>(&mut self, bytes: NonZeroU128, text: impl Fn() -> &'t str) -> Sym {
        let bytes = bytes.get();
        let (first, last) = (bytes as u64, (bytes >> 64) as u64);
        let mixed = (first ^ last.rotate_left(29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let at = (mixed >> (64 - RECENT)) as usize;
        match self.recent.get(at) {
            Some((known, sym)) if *known == bytes => *sym,
            _ => {
                let sym = self.intern(text());
                if let Some(place) = self.recent.get_mut(at) {
                    *place = (bytes, sym);
                }
                sym
            }
        }
    }

    pub fn get(&self, text: &str) -> Option<Sym> {
        self.find(text, hash(text.as_bytes())).ok()
    }

    /// The symbol number of a spelling, or its free slot in the table.
    #[inline]
    fn find(&self, text: &str, hash: u64) -> Result<Sym, usize> {
        let mask = self.table.len() - 1;
        let mut at = hash as usize & mask;
        while let Some(&(known, number)) = self.table.get(at).filter(|(_, number)| *number != 0) {
            if known == (hash >> 32) as u32 && self.bytes(number - 1) == Some(text.as_bytes()) {
                return Ok(Sym(number - 1));
            }
            at = (at + 1) & mask;
        }
        Err(at)
    }

    fn grow(&mut self) {
        self.table = vec![(0, 0); self.table.len() * 2];
        let mask = self.table.len() - 1;
        for number in 0..self.ends.len() as u32 {
            let hash = hash(self.text(Sym(number)).as_bytes());
            let mut at = hash as usize & mask;
            while self.table.get(at).is_some_and(|(_, number)| *number != 0) {
                at = (at + 1) & mask;
            }
            if let Some(place) = self.table.get_mut(at) {
                *place = ((hash >> 32) as u32, number + 1);
            }
        }
    }

    #[inline]
    fn bytes(&self, number: u32) -> Option<&[u8]> {
        let at = number as usize;
        let from = at.checked_sub(1).map_or(Some(&0), |before| self.ends.get(before))?;
        self.texts.as_bytes().get(*from as usize..*self.ends.get(at)? as usize)
    }

    /// The spellings that contain a word, ignoring case.
    pub fn having(&self, word: &str) -> SymSet {
        let (all, word) = (self.texts.as_bytes(), word.as_bytes());
        let mut found = SymSet::default();
        let Some(first) = word.first() else { return found };
        for at in memchr::memchr2_iter(first.to_ascii_lowercase(), first.to_ascii_uppercase(), all) {
            if all.get(at..at + word.len()).is_some_and(|part| part.eq_ignore_ascii_case(word)) {
                // Exclude a match that spans two spellings.
                let number = self.ends.partition_point(|end| *end as usize <= at);
                if self.ends.get(number).is_some_and(|end| at + word.len() <= *end as usize) {
                    found.insert(Sym(number as u32));
                }
            }
        }
        found
    }

    /// All spellings in the order of their numbers.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        (0..self.ends.len() as u32).map(|number| self.text(Sym(number)))
    }

    pub fn text(&self, sym: Sym) -> &str {
        let at = sym.0 as usize;
        let from = at.checked_sub(1).map_or(Some(&0), |before| self.ends.get(before));
        match (from, self.ends.get(at)) {
            (Some(&from), Some(&to)) => self.texts.get(from as usize..to as usize).unwrap_or("?"),
            _ => "?",
        }
    }
}

/// A hash of a spelling. It reads eight bytes at a time, since names are short.
#[inline]
fn hash(bytes: &[u8]) -> u64 {
    let mix = |a: u64, b: u64| {
        let wide = u128::from(a ^ 0x243f_6a88_85a3_08d3) * u128::from(b ^ 0x1319_8a2e_0370_7344);
        wide as u64 ^ (wide >> 64) as u64
    };
    let eight = |chunk: &[u8; 8]| u64::from_le_bytes(*chunk);
    let four = |chunk: &[u8; 4]| u64::from(u32::from_le_bytes(*chunk));
    let length = bytes.len() as u64;
    match (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        (Some(first), Some(last)) => {
            let (chunks, _) = bytes.as_chunks::<8>();
            let middle = chunks.iter().skip(1).fold(length, |sum, chunk| mix(sum, eight(chunk)));
            mix(eight(first) ^ middle, eight(last))
        }
        _ => match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>(), bytes) {
            (Some(first), Some(last), _) => mix(four(first) ^ length << 32, four(last)),
            (_, _, [first, .., last]) => {
                let middle = bytes.get(bytes.len() / 2).copied().unwrap_or(0);
                mix(u64::from(*first) | u64::from(middle) << 8 | length << 16, u64::from(*last))
            }
            (_, _, [only]) => mix(u64::from(*only), 1),
            _ => 0,
        },
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
    HAS_INCLUDE_NEXT "__has_include_next" LINE "__LINE__" COUNTER "__COUNTER__" FILE "__FILE__" DATE "__DATE__"
    TIME "__TIME__" TIMESTAMP "__TIMESTAMP__" BASE_FILE "__BASE_FILE__" INCLUDE_LEVEL "__INCLUDE_LEVEL__" LINE_DIR "line"
    DEFINE "define" UNDEF "undef" INCLUDE "include" IFDEF "ifdef" IFNDEF "ifndef" ELIF "elif" ELIFDEF "elifdef"
    ELIFNDEF "elifndef" ENDIF "endif" PRAGMA_DIR "pragma" ONCE "once"
    INT8_T "int8_t" INT16_T "int16_t" INT32_T "int32_t" INT64_T "int64_t" UINT8_T "uint8_t" UINT16_T "uint16_t"
    UINT32_T "uint32_t" UINT64_T "uint64_t" SIZE_T "size_t" SSIZE_T "ssize_t" PTRDIFF_T "ptrdiff_t" INTPTR_T "intptr_t"
    UINTPTR_T "uintptr_t" CHAR8_T "char8_t" CHAR16_T "char16_t" CHAR32_T "char32_t" WCHAR_T "wchar_t"
    INTMAX_T "intmax_t" UINTMAX_T "uintmax_t" INT_FAST8_T "int_fast8_t" INT_FAST16_T "int_fast16_t"
    INT_FAST32_T "int_fast32_t" INT_FAST64_T "int_fast64_t" UINT_FAST8_T "uint_fast8_t" UINT_FAST16_T "uint_fast16_t"
    UINT_FAST32_T "uint_fast32_t" UINT_FAST64_T "uint_fast64_t" INT_LEAST8_T "int_least8_t" INT_LEAST16_T "int_least16_t"
    INT_LEAST32_T "int_least32_t" INT_LEAST64_T "int_least64_t" UINT_LEAST8_T "uint_least8_t"
    UINT_LEAST16_T "uint_least16_t" UINT_LEAST32_T "uint_least32_t" UINT_LEAST64_T "uint_least64_t"
    NULL "NULL" STRING "string" VECTOR "vector" ARRAY "array" ALLOC "alloc" BODY "<body>"
}

/// Macros that every compiler defines and whose value depends on the position of their use.
pub fn is_positional(name: Sym) -> bool {
    matches!(name, LINE | COUNTER | FILE | DATE | TIME | TIMESTAMP | BASE_FILE | INCLUDE_LEVEL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_found_within_a_spelling_and_in_no_two() {
        let mut interner = Interner::default();
        let names = ["try_FUSE", "half", "us", "f", "fus", "Confused", "fu", "s"].map(|name| interner.intern(name));
        let found = interner.having("fus");
        assert_eq!(names.map(|name| found.contains(name)), [true, false, false, false, true, true, false, false]);
        assert_eq!(found.len(), 3);
        assert!(interner.having("").is_empty());
    }
}
