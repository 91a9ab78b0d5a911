package conformance_test

import (
	"errors"
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"
)

// complete adds to a scenario's catalog what every vendor there needs and none has
// to write: the version, what it speaks, where it is and one credential. The names
// of its vendors are in the order of the text.
func (w *world) complete(document *yaml.Node) (vendors []string, err error) {
	if len(document.Content) == 0 || document.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("is no YAML mapping")
	}
	root := document.Content[0]
	if valueOf(root, "version") == nil {
		root.Content = append([]*yaml.Node{scalar("version"), scalar("1")}, root.Content...)
	}
	list := valueOf(root, "vendors")
	if list == nil || list.Kind != yaml.MappingNode {
		return nil, errors.New("has no vendors")
	}
	for i := 0; i+1 < len(list.Content); i += 2 {
		name, v := list.Content[i].Value, list.Content[i+1]
		if v.Kind != yaml.MappingNode {
			return nil, fmt.Errorf("vendor %s: write a mapping, if only {}", name)
		}
		if valueOf(v, "base_url") != nil {
			return nil, fmt.Errorf("vendor %s: has a base_url; leave it out, the scenario's vendors are simulated", name)
		}
		credentials := []string{"main"}
		if n := valueOf(v, "credentials"); n != nil {
			if err := n.Decode(&credentials); err != nil {
				return nil, fmt.Errorf("vendor %s: credentials are ids only here, such as [main, spare]", name)
			}
			remove(v, "credentials")
		}
		full := &yaml.Node{Kind: yaml.SequenceNode}
		for _, id := range credentials {
			full.Content = append(full.Content, mapping("id", scalar(id), "env", scalar(variable(name, id))))
		}
		add(v, "credentials", full)
		if valueOf(v, "api") == nil {
			all := &yaml.Node{Kind: yaml.SequenceNode}
			for _, api := range apis {
				all.Content = append(all.Content, scalar(api))
			}
			add(v, "api", all)
		}
		add(v, "allow_private", scalar("true"))
		vendors = append(vendors, name)
	}
	return vendors, nil
}

// place gives the vendors of a completed catalog the addresses of their simulations.
func place(document *yaml.Node, sims map[string]*simulated) {
	list := valueOf(document.Content[0], "vendors")
	for i := 0; i+1 < len(list.Content); i += 2 {
		add(list.Content[i+1], "base_url", scalar(sims[list.Content[i].Value].url+"/v1"))
	}
}

// variable names the environment variable of a credential.
func variable(vendor, credential string) string {
	plain := func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			return c
		}
		return '_'
	}
	return "KEY_" + strings.Map(plain, vendor) + "_" + strings.Map(plain, credential)
}

func scalar(text string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: text} }

func mapping(members ...any) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for i := 0; i+1 < len(members); i += 2 {
		add(n, members[i].(string), members[i+1].(*yaml.Node))
	}
	return n
}

func add(n *yaml.Node, key string, value *yaml.Node) {
	n.Content = append(n.Content, scalar(key), value)
}

func valueOf(n *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

func remove(n *yaml.Node, key string) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			n.Content = append(n.Content[:i:i], n.Content[i+2:]...)
			return
		}
	}
}
