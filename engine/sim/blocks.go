package sim

import (
	"strings"

	"github.com/warmroute/warmroute/catalog"
)

// blocks are the steps in which vendors' own caches are read, as they document them;
// a name also stands for what begins with it and a dash, such as azure-eu. Sources:
// the prompt caching pages of OpenAI (1,024 tokens, then steps of 128), which Azure
// repeats, and of DeepSeek (units of 64).
var blocks = []struct {
	vendor string
	tokens int64
}{
	{"openai", 128},
	{"azure", 128},
	{"deepseek", 64},
}

// BlockOf is the number of tokens that a vendor's cache is read in steps of: 1 where
// markers say what is cached, and where none is documented.
func BlockOf(vendor string, family catalog.Family) int64 {
	if family != catalog.Implicit {
		return 1
	}
	for i := range blocks {
		if vendor == blocks[i].vendor || strings.HasPrefix(vendor, blocks[i].vendor+"-") {
			return blocks[i].tokens
		}
	}
	return 1
}
