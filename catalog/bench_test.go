package catalog

import (
	"fmt"
	"strings"
	"testing"
)

// many is a catalog of this many models with two routes each.
func many(models int) []byte {
	var text strings.Builder
	text.WriteString(frame)
	for i := range models {
		fmt.Fprintf(&text, "  maker/model-%d:\n    aliases: [m%d]\n    context: 200000\n    routes:\n", i, i)
		for _, vendor := range []string{"alpha", "beta"} {
			fmt.Fprintf(&text, "      - {vendor: %s, model: model-%d, price: {input: 3, output: 15, cache_read: 0.30, cache_write: 3.75}}\n", vendor, i)
		}
	}
	return []byte(text.String())
}

// One iteration reads a catalog of 500 models, 1,000 routes and 4,000 prices.
func BenchmarkParse(b *testing.B) {
	text := many(500)
	if c, err := Parse("f", text); err != nil || len(c.Models) != 500 || len(c.Models[499].Routes) != 2 {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := Parse("f", text); err != nil {
			b.Fatal(err)
		}
	}
}

// One iteration finds what one request asks for among 500 models.
func BenchmarkResolve(b *testing.B) {
	c, err := Parse("f", many(500))
	if err != nil {
		b.Fatal(err)
	}
	if target, ok := c.Resolve("m77"); !ok || target.Models[0].Name != "maker/model-77" {
		b.Fatal("wrong result")
	}
	b.ReportAllocs()
	for b.Loop() {
		c.Resolve("m77")
	}
}
