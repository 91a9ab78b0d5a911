package catalog_test

import (
	"testing"

	"github.com/warmroute/warmroute/catalog"
)

func TestTheStarterIsCleanButForAge(t *testing.T) {
	s := starterCatalog(t)
	found := catalog.Lint(s.Catalog, []byte(catalog.Starter()), autumn)
	for _, p := range found.Problems {
		if p.Severity == catalog.SeverityNote || p.Code == catalog.CodeAge {
			continue
		}
		t.Errorf("%s: %s", p.Code, p)
	}
}
