//! The files with which the agent is installed and its metrics are shown. `--print` writes them.

say::named! {
    /// A file to print.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Printed: key and ALL {
        Systemd = "systemd",
        Kubernetes = "kubernetes",
        Grafana = "grafana",
        Alerts = "alerts",
    }
}

impl Printed {
    pub fn text(self) -> &'static str {
        match self {
            Printed::Systemd => include_str!("../files/whichkernel-agent.service"),
            Printed::Kubernetes => include_str!("../files/daemonset.yaml"),
            Printed::Grafana => include_str!("../files/grafana.json"),
            Printed::Alerts => include_str!("../files/alerts.yaml"),
        }
    }
}
