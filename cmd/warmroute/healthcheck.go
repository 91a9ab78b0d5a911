package main

import (
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"
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
			path := "/healthz"
			if ready {
				path = "/readyz"
			}
			client := http.Client{Timeout: 3 * time.Second, Transport: &http.Transport{Proxy: nil}}
			answer, err := client.Get("http://" + admin + path)
			if err != nil {
				return fmt.Errorf("no gateway answers at %s: %w", admin, err)
			}
			defer answer.Body.Close()
			if answer.StatusCode != http.StatusOK {
				return fmt.Errorf("%s%s answers %s", admin, path, answer.Status)
			}
			_, err = fmt.Fprintln(c.OutOrStdout(), "ok")
			return err
		},
	}
	c.Flags().StringVar(&admin, "admin", "127.0.0.1:9090", "the gateway's admin address")
	c.Flags().BoolVar(&ready, "ready", false, "ask for readiness instead of life")
	return c
}
