package main

import (
	"bytes"
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/hex"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"text/template"
	"time"

	"github.com/spf13/cobra"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/routes/vendorsim"
)

//go:embed demo.yaml
var demoCatalog string

// demoVendors are the simulated vendors, with the cache rules that each
// documents (minimum prefix, block, lifetime).
var demoVendors = []vendorsim.Config{
	{Name: "anthropic", API: []catalog.API{catalog.Messages}, Usage: "anthropic", Cache: vendorsim.Cache{Family: catalog.Explicit, TTL: 5 * time.Minute, MinPrefix: 1024, Block: 1}},
	{Name: "bedrock", API: []catalog.API{catalog.Messages}, Usage: "anthropic", Cache: vendorsim.Cache{Family: catalog.Explicit, TTL: 5 * time.Minute, MinPrefix: 1024, Block: 1}},
	{Name: "openai", API: []catalog.API{catalog.Chat, catalog.Responses}, Usage: "openai", Cache: vendorsim.Cache{Family: catalog.Implicit, TTL: 10 * time.Minute, MinPrefix: 1024, Block: 128}},
	{Name: "azure", API: []catalog.API{catalog.Chat, catalog.Responses}, Usage: "openai", Cache: vendorsim.Cache{Family: catalog.Implicit, TTL: 10 * time.Minute, MinPrefix: 1024, Block: 128}},
	{Name: "deepseek", API: []catalog.API{catalog.Chat}, Usage: "deepseek", Cache: vendorsim.Cache{Family: catalog.Implicit, TTL: time.Hour, MinPrefix: 64, Block: 64}},
	{Name: "fireworks", API: []catalog.API{catalog.Chat}, Usage: "openai", Cache: vendorsim.Cache{Family: catalog.Implicit, TTL: 5 * time.Minute, MinPrefix: 256, Block: 64}},
	{Name: "groq", API: []catalog.API{catalog.Chat}, Usage: "openai", Cache: vendorsim.Cache{Family: catalog.Implicit, TTL: 2 * time.Hour, MinPrefix: 256, Block: 128}},
	{Name: "deepinfra", API: []catalog.API{catalog.Chat}, Usage: "openai", Cache: vendorsim.Cache{Family: catalog.Implicit, TTL: 5 * time.Minute, MinPrefix: 256, Block: 64}},
	// Shorter than anybody's, so that a cache is seen to expire; the catalog says the same.
	{Name: "novita", API: []catalog.API{catalog.Chat}, Usage: "openai", Cache: vendorsim.Cache{Family: catalog.Implicit, TTL: 45 * time.Second, MinPrefix: 256, Block: 64}},
	{Name: "moonshot", API: []catalog.API{catalog.Chat}, Usage: "moonshot", Cache: vendorsim.Cache{Family: catalog.Implicit, TTL: 5 * time.Minute, MinPrefix: 256, Block: 64}},
}

func demoCommand() *cobra.Command {
	var s settings
	play := feedSettings{On: true}
	c := &cobra.Command{
		Use:   "demo",
		Short: "Run the gateway over simulated vendors; no keys, nothing kept",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := fromEnvironment(c.Flags()); err != nil {
				return err
			}
			if err := s.readConfig(c.Flags()); err != nil {
				return err
			}
			play.On = play.On && len(s.config.Tenants) == 0 // the feed's agents have no tenant's key
			if play.On && !c.Flags().Changed("log-level") {
				s.LogLevel = "warn" // every turn of the feed would be a line
			}
			ctx, stop := untilSignal(c.Context())
			defer stop()
			return demo(ctx, s, play, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	commonFlags(c, &s)
	c.Flags().StringVar(&s.Config, "config", "", "a file with a profile's settings, tenants and more; its catalog and data are the demo's, and with tenants there are no agents")
	c.Flags().BoolVar(&play.On, "feed", true, "let simulated agents work through the gateway all the time; only warnings are logged then, unless --log-level says otherwise")
	c.Flags().Uint64Var(&play.Seed, "seed", 0, "of what the agents say: the same seed gives the same requests; 0 draws one")
	return c
}

// feedSettings say whether the demo has a feed. Seed 0 draws one.
type feedSettings struct {
	On   bool
	Seed uint64
}

// demo starts the simulated vendors, writes a catalog that names them into a
// temporary folder, and serves it, with agents at work unless the feed is off.
// Nothing is left when it ends.
func demo(ctx context.Context, s settings, play feedSettings, out, logs io.Writer) error {
	folder, err := os.MkdirTemp("", "warmroute-demo-")
	if err != nil {
		return fmt.Errorf("the demo needs a temporary folder: %w", err)
	}
	defer os.RemoveAll(folder)
	s.Catalog, s.Data = filepath.Join(folder, "catalog.yaml"), filepath.Join(folder, "data")
	log, err := logger(s, logs)
	if err != nil {
		return err
	}
	if err := s.check(); err != nil {
		return err
	}
	vendors, addresses, stop, err := startVendors()
	if err != nil {
		return err
	}
	defer stop()
	key := make([]byte, 16)
	rand.Read(key)
	os.Setenv("WARMROUTE_DEMO_KEY", hex.EncodeToString(key))
	if err := writeDemoCatalog(s.Catalog, addresses); err != nil {
		return err
	}
	fmt.Fprintln(out, "simulated vendors (POST …/sim/faults makes one fail, GET …/sim/log shows what it received):")
	for _, v := range demoVendors {
		fmt.Fprintf(out, "  %-10s %s\n", v.Name, addresses[v.Name])
	}
	fmt.Fprintf(out, "catalog (edit it while this runs): %s\n\n", s.Catalog)
	session := make([]byte, 6)
	rand.Read(session)
	playing, stopPlaying := context.WithCancel(ctx)
	var ended sync.WaitGroup
	defer ended.Wait()
	defer stopPlaying()
	s.Ready = func(gateway, admin string) {
		fmt.Fprintf(out, "\n%s:\n", s.invitation())
		fmt.Fprintf(out, `curl -si %s/v1/chat/completions -H 'content-type: application/json'`+s.presented()+` -H 'x-session-id: demo-%s' -d '{"model":"deepseek-v4-pro","messages":[{"role":"user","content":"The log: '"$(seq -s ' ' 400)"'. Who keeps it?"}]}'`+"\n\n", gateway, hex.EncodeToString(session))
		if !play.On {
			return
		}
		if play.Seed == 0 {
			play.Seed = mathrand.Uint64()
		}
		fmt.Fprintf(out, "simulated agents are at work (--feed=false: none; --seed %d: the same again)\n", play.Seed)
		agents := newFeed(feedOptions{Gateway: gateway, Vendors: vendors, Seed: play.Seed, Log: log})
		ended.Go(func() { agents.run(playing) })
	}
	return serve(ctx, s, out, logs)
}

// invitation is what to do with the request that the demo prints, and what comes of it.
func (s *settings) invitation() string {
	switch off := s.affinity().OffUntil(); {
	case len(s.config.Tenants) > 0:
		return "send this twice with the key of a tenant, and compare x-warmroute-outcome"
	case off != "":
		return "send this; the answer says skipped_mode_off, because affinity is off until " + off + ", in a file that --config names"
	case s.Config != "":
		return "send this twice, and compare x-warmroute-outcome"
	}
	return "send this twice; the first answer says no_pin, the second confirmed"
}

// presented is the header with a tenant's key, where there are tenants.
func (s *settings) presented() string {
	if len(s.config.Tenants) == 0 {
		return ""
	}
	return ` -H "authorization: Bearer $KEY"`
}

// startVendors gives each simulated vendor a port of its own on loopback.
func startVendors() (vendors map[string]*vendorsim.Vendor, addresses map[string]string, stop func(), err error) {
	vendors, addresses = map[string]*vendorsim.Vendor{}, map[string]string{}
	var servers []*http.Server
	stop = func() {
		for _, server := range servers {
			server.Close()
		}
	}
	for _, config := range demoVendors {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			stop()
			return nil, nil, nil, fmt.Errorf("simulated vendor %s: %w", config.Name, err)
		}
		config.EventGap = 15 * time.Millisecond
		vendor := vendorsim.New(config)
		vendors[config.Name] = vendor
		server := &http.Server{Handler: vendor, ReadHeaderTimeout: 5 * time.Second}
		servers = append(servers, server)
		addresses[config.Name] = "http://" + listener.Addr().String()
		go func() { _ = server.Serve(listener) }() // ends at stop
	}
	return vendors, addresses, stop, nil
}

func writeDemoCatalog(path string, addresses map[string]string) error {
	bases := map[string]string{}
	for name, address := range addresses {
		bases[name] = address + "/v1"
	}
	page, err := template.New("demo.yaml").Option("missingkey=error").Parse(demoCatalog)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := page.Execute(&text, bases); err != nil {
		return err
	}
	return os.WriteFile(path, text.Bytes(), 0o600)
}
