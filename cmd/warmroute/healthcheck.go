package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/warmroute/warmroute/routes"
)

func healthcheckCommand() *cobra.Command {
	var admin string
	var ready bool
	c := &cobra.Command{
		Use:   "healthcheck",
		Short: "Ask a running gateway whether it is well; for container probes",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := fromEnvironment(c.Flags()); err != nil {
				return err
			}
			address := strings.TrimSuffix(strings.TrimPrefix(admin, "http://"), "/")
			if _, _, err := net.SplitHostPort(address); err != nil {
				return usage(fmt.Errorf("--admin %s: write host:port", admin))
			}
			path := "/healthz"
			if ready {
				path = "/readyz"
			}
			client := http.Client{Timeout: 3 * time.Second, Transport: &http.Transport{Proxy: nil}}
			answer, err := client.Get("http://" + address + path + "?verbose")
			if err != nil {
				var reason *url.Error
				if errors.As(err, &reason) {
					err = reason.Err // without the address, which is said already
				}
				return fmt.Errorf("no gateway answers at %s: %w", address, err)
			}
			defer answer.Body.Close()
			if answer.StatusCode != http.StatusOK {
				return fmt.Errorf("%s%s answers %s", address, path, answer.Status)
			}
			said := "ok"
			var now routes.Readiness
			if ready && json.NewDecoder(answer.Body).Decode(&now) == nil && now.Reason != "" { // ready, though not all is well
				said = "ok, but " + now.Reason
				if now.Catalog.Problem != "" {
					said += "\n" + now.Catalog.Problem
				}
			}
			_, err = fmt.Fprintln(c.OutOrStdout(), said)
			return err
		},
	}
	c.Flags().StringVar(&admin, "admin", "127.0.0.1:9090", "the gateway's admin address")
	c.Flags().BoolVar(&ready, "ready", false, "ask for readiness instead of life")
	return c
}
