package routes_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/warmroute/warmroute/routes"
)

func TestOnlyThisMachineIsServed(t *testing.T) {
	handler := routes.Local(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for host, want := range map[string]int{
		"127.0.0.1:9090": http.StatusOK, "127.0.0.1": http.StatusOK, "localhost:9090": http.StatusOK, "LOCALHOST": http.StatusOK,
		"[::1]:9090": http.StatusOK, "[::1]": http.StatusOK, "127.8.9.1:1": http.StatusOK,
		"rebound.example:9090": http.StatusForbidden, "rebound.example": http.StatusForbidden, "127.0.0.1.rebound.example": http.StatusForbidden,
		"localhost.rebound.example": http.StatusForbidden, "192.168.1.7:9090": http.StatusForbidden, "": http.StatusForbidden, "[::ffff:10.0.0.1]:1": http.StatusForbidden,
	} {
		r := httptest.NewRequest(http.MethodGet, "/ui/", nil)
		r.Host = host
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("host %q answers %d, want %d", host, w.Code, want)
		}
	}
}
