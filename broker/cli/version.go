package cli

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// Version is what this binary calls itself. Release builds set it with -ldflags -X; other builds are "dev".
var Version = "dev"

type versionReport struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Kafka    string `json:"kafka"` // the Kafka release whose behaviour this build follows
}

func newVersionCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:         "version",
		Short:       "Print the version of this binary",
		Example:     "  weir version -o json",
		Args:        args(cobra.NoArgs, "no arguments"),
		Annotations: map[string]string{withoutFlags: "bootstrap"},
		RunE: func(*cobra.Command, []string) error {
			report := versionReport{Version: Version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Kafka: "4.4"}
			if build, ok := debug.ReadBuildInfo(); ok {
				for _, setting := range build.Settings {
					if setting.Key == "vcs.revision" {
						report.Revision = setting.Value
					}
				}
			}
			if g.output == outputJSON {
				return json.NewEncoder(g.stdout).Encode(report)
			}
			_, err := fmt.Fprintf(g.stdout, "weir %s (follows Kafka %s; %s, %s)\n", report.Version, report.Kafka, report.Go, report.Platform)
			return err
		},
	}
}
