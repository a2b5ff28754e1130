//! A lane: one setting of the server, with a name and its variables.

/// Why a word is not a lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LaneError {
    Form(String),
    Twice(String),
    Alone,
    Port(String),
    Unset { variable: String, lane: String },
}

say::worded! { LaneError {
    Form(text) => "probe-lane-form" (text = format!("{text:?}")),
    Twice(name) => "probe-lane-twice" (name = format!("{name:?}")),
    Alone => "probe-lane-alone",
    Port(words) => "probe-lane-port",
    Unset { variable, lane } => "probe-lane-unset" (variable, lane = format!("{lane:?}")),
}}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lane {
    pub name: String,
    pub variables: Vec<(String, String)>,
}

impl Lane {
    /// `A=NAME=VALUE OTHER=VALUE`: the text before the first `=` is the lane's name. A word without `NAME=` continues the value
    /// before it.
    pub fn parse(text: &str) -> Result<Lane, LaneError> {
        let wrong = || LaneError::Form(text.to_owned());
        let (name, rest) = text.split_once('=').ok_or_else(wrong)?;
        let mut variables: Vec<(String, String)> = Vec::new();
        for word in rest.split_whitespace() {
            match (word.split_once('=').filter(|(name, _)| is_name(name)), variables.last_mut()) {
                (Some((name, value)), _) => variables.push((name.to_owned(), value.to_owned())),
                (None, Some((_, value))) => {
                    value.push(' ');
                    value.push_str(word);
                }
                (None, None) => return Err(wrong()),
            }
        }
        if name.is_empty() || name.contains(char::is_whitespace) {
            return Err(wrong());
        }
        Ok(Lane { name: name.to_owned(), variables })
    }

    /// All given lanes, if they can be compared.
    pub fn all(texts: &[String]) -> Result<Vec<Lane>, LaneError> {
        let lanes = texts.iter().map(|text| Lane::parse(text)).collect::<Result<Vec<_>, _>>()?;
        for (i, lane) in lanes.iter().enumerate() {
            if lanes.iter().skip(i + 1).any(|other| other.name == lane.name) {
                return Err(LaneError::Twice(lane.name.clone()));
            }
        }
        if lanes.len() < 2 { Err(LaneError::Alone) } else { Ok(lanes) }
    }

    pub fn words(&self) -> Vec<String> {
        self.variables.iter().map(|(name, value)| format!("{name}={value}")).collect()
    }

    /// The command with `{port}` and `{NAME}` filled in: lanes may also differ in the program itself.
    pub fn fill(&self, command: &[String], port: u16) -> Result<Vec<String>, LaneError> {
        let joined = command.windows(2).find(|two| two[0] == "--port" && two[1].parse::<u16>().is_ok());
        let one = command.iter().find(|word| word.strip_prefix("--port=").is_some_and(|n| n.parse::<u16>().is_ok()));
        if let Some(words) = joined.map(|two| two.join(" ")).or_else(|| one.cloned()) {
            return Err(LaneError::Port(words));
        }
        command.iter().map(|word| self.filled(word, port)).collect()
    }

    fn filled(&self, word: &str, port: u16) -> Result<String, LaneError> {
        let mut out = String::new();
        let mut rest = word;
        while let Some((before, after)) = rest.split_once('{') {
            let Some((name, behind)) = after.split_once('}').filter(|(name, _)| is_name(name)) else {
                out.push_str(before);
                out.push('{');
                rest = after;
                continue;
            };
            out.push_str(before);
            match self.variables.iter().find(|(known, _)| known == name) {
                Some((_, value)) => out.push_str(value),
                None if name == "port" => out.push_str(&port.to_string()),
                None => return Err(LaneError::Unset { variable: name.to_owned(), lane: self.name.clone() }),
            }
            rest = behind;
        }
        out.push_str(rest);
        Ok(out)
    }
}

fn is_name(text: &str) -> bool {
    let first = text.chars().next();
    first.is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_is_a_name_and_its_variables() {
        let lane = Lane::parse("B=ROCBLAS_TENSILE_LIBPATH=/x FLAGS=-fa on GGML_X=1").unwrap();
        let two = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(lane.variables, [two("ROCBLAS_TENSILE_LIBPATH", "/x"), two("FLAGS", "-fa on"), two("GGML_X", "1")]);
        assert_eq!(Lane::parse("A=").map(|lane| lane.variables), Ok(vec![]));
        for wrong in ["A", "A=noequals", "=X=1", "a b=X=1", "A=1=2"] {
            assert_eq!(Lane::parse(wrong), Err(LaneError::Form(wrong.to_owned())));
        }
        let all = |list: &[&str]| Lane::all(&list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
        assert_eq!(all(&["A="]), Err(LaneError::Alone));
        assert_eq!(all(&["A=", "A=X=1"]), Err(LaneError::Twice("A".into())));
    }

    #[test]
    fn the_command_is_filled_in_for_each_lane() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let lane = Lane::parse("B=BIN=/new/llama-server").unwrap();
        assert_eq!(
            lane.fill(&words("{BIN} --port {port} {} {x y}"), 7),
            Ok(words("/new/llama-server --port 7 {} {x y}"))
        );
        assert_eq!(
            lane.fill(&words("{OTHER}"), 7),
            Err(LaneError::Unset { variable: "OTHER".into(), lane: "B".into() })
        );
        assert_eq!(lane.fill(&words("x --port 8080"), 7), Err(LaneError::Port("--port 8080".into())));
        assert_eq!(lane.fill(&words("x --port=8080"), 7), Err(LaneError::Port("--port=8080".into())));
    }
}
