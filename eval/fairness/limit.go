package fairness

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ParseLimits reads METRIC=NUMBER of [AUCs]: the lowest value that a group may have. Of
// two limits for a metric, the higher one counts.
func ParseLimits(texts []string) (Estimates, error) {
	limits := Estimates{}
	for _, given := range texts {
		name, value, _ := strings.Cut(given, "=")
		limit, err := strconv.ParseFloat(value, 64)
		if !slices.Contains(AUCs(), Metric(name)) || err != nil || !(limit >= 0 && limit <= 1) {
			return nil, fmt.Errorf("%q must be like subgroup_auc=0.9, with subgroup_auc, bpsn_auc or bnsp_auc and a number in 0..1", given)
		}
		at := limits[Metric(name)]
		at.Value = max(at.Value, limit)
		limits[Metric(name)] = at
	}
	return limits, nil
}

// Under reports whether a group is under a limit.
func (r Results) Under(limits Estimates) (bool, error) {
	for _, m := range AUCs() {
		limit, limited := limits[m]
		lowest, ok := r.Groups.Lowest(m)
		switch {
		case !limited:
		case !ok:
			return false, fmt.Errorf("no group has a %s", m)
		case lowest.Metrics[m].Value < limit.Value:
			return true, nil
		}
	}
	return false, nil
}
