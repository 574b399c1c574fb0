//! Values that take whatever stands there: a field of another type than expected counts as absent.

use scrollback_core::Text;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// A short string: an id, a name, a kind. A number counts as its digits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Word<'r>(Option<Cow<'r, str>>);

impl<'r> Word<'r> {
    /// Returns the string, unless it is absent or empty.
    pub(crate) fn get(&self) -> Option<&str> {
        self.0.as_deref().filter(|word| !word.is_empty())
    }

    /// Gives up the string, unless it is absent or empty.
    pub(crate) fn take(self) -> Option<Cow<'r, str>> {
        self.0.filter(|word| !word.is_empty())
    }

    /// Says whether it is `word`.
    pub(crate) fn is(&self, word: &str) -> bool {
        self.0.as_deref() == Some(word)
    }
}

impl<'de: 'r, 'r> Deserialize<'de> for Word<'r> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match deserializer.deserialize_any(Anything)? {
            Found::Word(word) => Ok(Self(Some(word))),
            Found::Number(number) => Ok(Self(Some(Cow::Owned(number.to_string())))),
            Found::Flag(_) | Found::Something | Found::Nothing => Ok(Self(None)),
        }
    }
}

/// A whole number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Number(pub(crate) Option<i64>);

impl Number {
    /// Returns the number, unless it is absent or negative.
    pub(crate) fn count(self) -> Option<u64> {
        self.0.and_then(|number| u64::try_from(number).ok())
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match deserializer.deserialize_any(Anything)? {
            Found::Number(number) => Ok(Self(Some(number))),
            _ => Ok(Self(None)),
        }
    }
}

/// Whether something is true, or is there at all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Flag(pub(crate) Option<bool>);

impl Flag {
    /// Says whether it is there and not `false`.
    pub(crate) fn is_set(self) -> bool {
        self.0 == Some(true)
    }
}

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match deserializer.deserialize_any(Anything)? {
            Found::Flag(flag) => Self(Some(flag)),
            Found::Nothing => Self(None),
            _ => Self(Some(true)),
        })
    }
}

/// Whether a key stands there, with whatever value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Present(pub(crate) bool);

impl<'de> Deserialize<'de> for Present {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| Self(true))
    }
}

/// An object, absent where none stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Object<T>(pub(crate) Option<T>);

impl<T> Default for Object<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields<T>(std::marker::PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Fields<T> {
            type Value = Option<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(Some)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                while list.next_element::<IgnoredAny>()?.is_some() {}
                Ok(None)
            }

            fn visit_str<E: Error>(self, _: &str) -> Result<Self::Value, E> {
                Ok(None)
            }

            fn visit_bool<E: Error>(self, _: bool) -> Result<Self::Value, E> {
                Ok(None)
            }

            fn visit_i64<E: Error>(self, _: i64) -> Result<Self::Value, E> {
                Ok(None)
            }

            fn visit_u64<E: Error>(self, _: u64) -> Result<Self::Value, E> {
                Ok(None)
            }

            fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> {
                Ok(None)
            }

            fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
                Ok(None)
            }
        }

        deserializer.deserialize_any(Fields(std::marker::PhantomData)).map(Object)
    }
}

/// A list, empty where no list stands. A string counts as a list of that one text.
#[derive(Debug, Clone)]
pub(crate) struct List<T>(pub(crate) Vec<T>);

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// What a [`List`] may be made of.
pub(crate) trait FromText<'r>: Sized {
    /// Returns the element that stands for a bare string, if any does.
    fn from_text(text: Cow<'r, str>) -> Option<Self>;
}

impl<'r> FromText<'r> for Text<'r> {
    fn from_text(text: Cow<'r, str>) -> Option<Self> {
        Some(Self(text))
    }
}

impl<'r> FromText<'r> for Word<'r> {
    fn from_text(text: Cow<'r, str>) -> Option<Self> {
        Some(Self(Some(text)))
    }
}

impl<'de: 'r, 'r, T: Deserialize<'de> + FromText<'r>> Deserialize<'de> for List<T>
where
    T: 'r,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Elements<'r, T>(std::marker::PhantomData<&'r T>);

        impl<'de: 'r, 'r, T: Deserialize<'de> + FromText<'r>> Visitor<'de> for Elements<'r, T> {
            type Value = Vec<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut elements = Vec::new();
                while let Some(element) = list.next_element()? {
                    elements.push(element);
                }
                Ok(elements)
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(T::from_text(Cow::Borrowed(text)).into_iter().collect())
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(T::from_text(Cow::Owned(text.to_owned())).into_iter().collect())
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Vec::new())
            }

            fn visit_bool<E: Error>(self, _: bool) -> Result<Self::Value, E> {
                Ok(Vec::new())
            }

            fn visit_i64<E: Error>(self, _: i64) -> Result<Self::Value, E> {
                Ok(Vec::new())
            }

            fn visit_u64<E: Error>(self, _: u64) -> Result<Self::Value, E> {
                Ok(Vec::new())
            }

            fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> {
                Ok(Vec::new())
            }

            fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
                Ok(Vec::new())
            }
        }

        deserializer.deserialize_any(Elements(std::marker::PhantomData)).map(List)
    }
}

enum Found<'de> {
    Word(Cow<'de, str>),
    Number(i64),
    Flag(bool),
    Something,
    Nothing,
}

struct Anything;

impl<'de> Visitor<'de> for Anything {
    type Value = Found<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Found::Word(Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Found::Word(Cow::Owned(text.to_owned())))
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<Self::Value, E> {
        Ok(Found::Flag(flag))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Found::Number(number))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
        Ok(i64::try_from(number).map_or(Found::Something, Found::Number))
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Found::Something)
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(Found::Nothing)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Found::Something)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Found::Something)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_type_counts_as_absent() {
        let words: Vec<Word<'_>> = serde_json::from_str(r#"["a",7,null,{"b":1},[2],true,1.5,""]"#).unwrap();
        let words: Vec<_> = words.iter().map(Word::get).collect();
        assert_eq!(words, [Some("a"), Some("7"), None, None, None, None, None, None]);
        let numbers: Vec<Number> = serde_json::from_str(r#"[-1,7,"7",null,{}]"#).unwrap();
        let numbers: Vec<_> = numbers.iter().map(|number| number.0).collect();
        assert_eq!(numbers, [Some(-1), Some(7), None, None, None]);
    }

    #[test]
    fn a_list_may_be_missing_or_one_string() {
        for (json, want) in
            [(r#"["a","b"]"#, vec!["a", "b"]), (r#""a""#, vec!["a"]), ("null", vec![]), ("3", vec![])]
        {
            let list: List<Text<'_>> = serde_json::from_str(json).unwrap();
            assert_eq!(list.0.iter().map(|text| &**text).collect::<Vec<_>>(), want, "{json}");
        }
    }
}
