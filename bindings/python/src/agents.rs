//! Reads names: of columns, of labels, and of the agents that are asked about, which may be those of a
//! list such as `@ai-training`.

use portcullis_report::AgentList;
use portcullis_robots::policy::AgentChain;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::policy_set::PyPolicySet;
use crate::value_error;

/// The agents that are asked about.
pub struct Asked {
    /// The agents, without repetitions, and then those of User-Agent headers. At least one.
    pub chains: Vec<AgentChain>,
    /// The lists that agents were taken from.
    pub lists: Vec<AgentList>,
}

/// Returns the agents that are asked about.
///
/// # Errors
///
/// If there are none, or a name or a header is invalid.
pub fn asked(
    agents: Option<&Bound<'_, PyAny>>,
    user_agents: &[String],
    set: &Bound<'_, PyPolicySet>,
) -> PyResult<Asked> {
    let dialect = set.get().set.dialect();
    let (mut names, mut lists): (Vec<String>, Vec<AgentList>) = Default::default();
    for name in agents.map(|agents| self::names("agents", agents)).transpose()?.unwrap_or_default()
    {
        let before = names.len();
        let mut add = |name: String| {
            if !names.iter().any(|other| other.eq_ignore_ascii_case(&name)) {
                names.push(name);
            }
        };
        let Some(list) = name.trim().strip_prefix('@') else {
            add(name.trim().to_owned());
            continue;
        };
        let module = set.py().import("portcullis_robots.agents")?;
        let described = module.call_method1("_described", (list, dialect.name))?;
        let (expanded, skipped, source): (Vec<String>, Vec<String>, String) =
            described.extract()?;
        expanded.into_iter().for_each(add);
        let agents = names.len() - before;
        lists.push(AgentList { name: format!("@{list}"), source, agents, skipped });
    }
    let tokens = names.iter().map(|agent| AgentChain::parse(agent, dialect));
    let headers = user_agents.iter().map(|header| AgentChain::from_header(header, dialect));
    let chains = tokens.chain(headers).collect::<Result<Vec<_>, _>>().map_err(value_error)?;
    match chains.is_empty() {
        true => Err(PyValueError::new_err("no agents; name at least one crawler")),
        false => Ok(Asked { chains, lists }),
    }
}

/// Returns the names in an argument: one str, in which commas separate them, or several.
///
/// # Errors
///
/// If it is neither.
pub fn names(argument: &str, names: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    if let Ok(text) = names.cast::<PyString>() {
        return Ok(text.to_str()?.split(',').map(|name| name.trim().to_owned()).collect());
    }
    let listed = || names.try_iter()?.map(|name| name?.extract()).collect::<PyResult<_>>();
    listed().map_err(|_| {
        PyTypeError::new_err(format!(
            "{argument} has the type {}; pass a list of str, or one str with commas between names",
            names.get_type()
        ))
    })
}
