package routes

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// Local lets pass only requests that name this machine as their host: a loopback
// address or localhost. It guards a handler on a loopback address that asks nobody
// for a key against pages of other sites whose name was made to resolve to it
// (DNS rebinding).
func Local(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !localHost(r.Host) {
			http.Error(w, "this address is for this machine: ask for it by 127.0.0.1 or localhost", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func localHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && ip.Unmap().IsLoopback()
}
