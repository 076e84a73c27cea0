"""An evaluation: data, a lab, two strategies, verified answers, one report."""
