package cli

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/weir-broker/weir/broker/config"
	"github.com/weir-broker/weir/broker/node"
)

// stopTimeout bounds a clean stop. What is not flushed by then is recovered by the next start.
const stopTimeout = 3 * time.Minute

// logFlags are how a server logs.
type logFlags struct {
	level  string
	format string
}

func (f *logFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.level, "log-level", "info", "least level that is logged: debug, info, warn or error")
	cmd.Flags().StringVar(&f.format, "log-format", "text", "log format on stderr: text or json")
}

func (f *logFlags) logger(g *globals) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(f.level)); err != nil {
		return nil, usageError{fmt.Errorf("--log-level %s: unknown level; use debug, info, warn or error", f.level)}
	}
	options := &slog.HandlerOptions{Level: level}
	switch f.format {
	case "text":
		return slog.New(slog.NewTextHandler(g.stderr, options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(g.stderr, options)), nil
	}
	return nil, usageError{fmt.Errorf("--log-format %s: unknown format; use text or json", f.format)}
}

// ready says that the broker serves: with a line on stdout, which scripts and supervisors wait for, and where logs are JSON with a record
// of it too, since whoever collects those takes only them.
func (f *logFlags) ready(g *globals, logger *slog.Logger, bootstrap, admin string) {
	fmt.Fprintf(g.stdout, "weir ready bootstrap=%s admin=%s\n", bootstrap, admin)
	if f.format == "json" {
		logger.Info("ready", "bootstrap", bootstrap, "admin", admin)
	}
}

func newServeCommand(g *globals) *cobra.Command {
	var path string
	var overrides []string
	var logs logFlags
	cmd := &cobra.Command{
		Use:   "serve -c FILE",
		Short: "Run a broker from a Kafka server.properties file",
		Long: `Run a broker from a Kafka server.properties file.

The file has Kafka's own property names. WEIR_* environment variables come next (WEIR_LOG_RETENTION_MS sets
log.retention.ms), --override last. Everything wrong is reported at once, with its line; unknown keys only warn.`,
		Example:     "  weir serve -c server.properties --override log.retention.hours=24",
		Args:        args(cobra.NoArgs, "no arguments"),
		Annotations: map[string]string{withoutFlags: "bootstrap output"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if path == "" {
				return usageError{fmt.Errorf("-c is missing: name a properties file, such as -c server.properties; 'weir dev' needs none")}
			}
			logger, err := logs.logger(g)
			if err != nil {
				return err
			}
			return serve(cmd.Context(), g, &logs, logger, config.Sources{Path: path, Environ: os.Environ(), Overrides: overrides})
		},
	}
	cmd.Flags().StringVarP(&path, "config", "c", "", "properties file")
	cmd.Flags().StringArrayVar(&overrides, "override", nil, "property to set over the file, key=value; may be repeated")
	logs.add(cmd)
	return cmd
}

func newDevCommand(g *globals) *cobra.Command {
	var listen, admin, dir string
	var overrides []string
	var logs logFlags
	cmd := &cobra.Command{
		Use:   "dev",
		Short: "Run a broker with no configuration",
		Long: `Run a real broker with no configuration: it formats a new directory itself, keeps what it is given there,
and prints "weir ready bootstrap=… admin=…" when it serves. Ctrl-C stops it cleanly.`,
		Example:     "  weir dev --listen 127.0.0.1:19092 --dir /tmp/weir --override log.retention.hours=1",
		Args:        args(cobra.NoArgs, "no arguments"),
		Annotations: map[string]string{withoutFlags: "bootstrap output"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			logger, err := logs.logger(g)
			if err != nil {
				return err
			}
			if _, _, err := net.SplitHostPort(listen); err != nil {
				return usageError{fmt.Errorf("--listen %s: not host:port; use for example --listen 127.0.0.1:9092", listen)}
			}
			dir, err := filepath.Abs(dir)
			if err != nil {
				return fmt.Errorf("--dir: %w", err)
			}
			return serve(cmd.Context(), g, &logs, logger, config.Sources{
				Defaults: map[string]string{
					"process.roles": "broker,controller", "node.id": "1", "listeners": "PLAINTEXT://" + listen,
					"log.dirs": dir, "weir.admin.address": admin,
				},
				Environ: os.Environ(), Overrides: overrides,
			})
		},
	}
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:9092", "address for clients, host:port; port 0 takes a free one")
	cmd.Flags().StringVar(&admin, "admin", "127.0.0.1:9644", "address for health and metrics over HTTP; port 0 takes a free one")
	cmd.Flags().StringVar(&dir, "dir", "./weir-data", "directory for data; made and formatted when it is missing or empty")
	cmd.Flags().StringArrayVar(&overrides, "override", nil, "property to set, key=value; may be repeated")
	logs.add(cmd)
	return cmd
}

// serve runs a broker until ctx ends, then stops it cleanly.
func serve(ctx context.Context, g *globals, logs *logFlags, logger *slog.Logger, sources config.Sources) error {
	broker, warnings, err := config.Load(sources)
	for _, w := range warnings {
		logger.Warn("configuration", slog.Any("", w)) // no key: place, key and text stand by themselves
	}
	if err != nil {
		return fmt.Errorf("the configuration is invalid:\n%w", err)
	}
	n, err := node.Start(ctx, node.Options{Config: broker, Logger: logger, Version: Version})
	if err != nil {
		return err
	}
	logs.ready(g, logger, n.Bootstrap(), n.Admin())
	select {
	case <-ctx.Done():
		logger.Info("stopping")
	case <-n.Failed():
		err = n.Err()
	}
	stop, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	if stopErr := n.Stop(stop); err == nil {
		err = stopErr
	}
	if err == nil {
		logger.Info("stopped")
	}
	return err
}
