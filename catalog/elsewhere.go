package catalog

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// elsewhere is where a key belongs that stands in the wrong place, as the end of a
// message; empty where it belongs nowhere. what is the mapping it stands in.
func (r *reader) elsewhere(what, key string) string {
	config := r.what == "config file"
	switch {
	case config && what == "the config file":
		if slices.Contains(keysIn[affinitySettingsShape](), key) {
			return "; it belongs in affinity, as in affinity: {" + key + ": …}"
		}
		if slices.Contains(keysIn[catalogShape](), key) {
			return "; it belongs in the catalog, which --catalog names"
		}
	case what == "the catalog" && slices.Contains(keysIn[configShape](), key):
		return "; it belongs in the config file, which --config names"
	case config && strings.HasPrefix(what, "affinity") && (key == "weights" || key == "sort" || key == "order"):
		return "; it belongs in a policy of the catalog, as in policies: {split: {models: [MODEL], sort: weighted, weights: {VENDOR: 70, OTHER: 30}}}"
	}
	return ""
}

// oneKey says whether a tenant has the single key that its keys would be, named and
// not written out.
func oneKey(what string, e entry) bool {
	return what == "a tenant" && e.key.Value == "key" && e.value.Kind == yaml.MappingNode
}
