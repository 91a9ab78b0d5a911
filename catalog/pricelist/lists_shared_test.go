package pricelist

import (
	"os"
	"testing"
)

const sharedPrices = "../../../shared/data/prices/"

// sharedFiles are the real lists, in the order in which they are compared.
var sharedFiles = []struct{ source, file string }{
	{LiteLLM, "litellm.json.gz"},
	{ModelsDev, "models-dev.json.gz"},
	{OpenRouter, "openrouter-models.json.gz"},
	{Portkey, "portkey-pricing.json.gz"},
	{GenaiPrices, "genai-prices-v2.json.gz"},
}

// readShared reads the five real lists, or skips where they are not there.
func readShared(t testing.TB) []*List {
	t.Helper()
	var lists []*List
	for _, s := range sharedFiles {
		f, err := os.Open(sharedPrices + s.file)
		if err != nil {
			t.Skip("the shared data is not here: " + err.Error())
		}
		defer f.Close()
		l, err := Read(s.source, f)
		if err != nil {
			t.Fatal(err)
		}
		lists = append(lists, l)
	}
	return lists
}
