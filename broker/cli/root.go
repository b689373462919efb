package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Exit codes of every command.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

// usageError marks an error that comes from how the command was called, not from what it did.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

// Output formats of -o.
const (
	outputTable = "table"
	outputJSON  = "json"
)

// globals are the flags that every command shares.
type globals struct {
	bootstrap string // host:port[,host:port…] of the cluster a client command talks to
	output    string // outputTable or outputJSON
	stdin     io.Reader
	stdout    io.Writer
	stderr    io.Writer
}

// Run executes one command line and returns its exit code. It never calls os.Exit, so tests can run it in process.
func Run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second interrupt ends the process at once
	return run(ctx, args, stdin, stdout, stderr)
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot(stdin, stdout, stderr)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitDone
	}
	text := strings.TrimRight(err.Error(), "\n")
	if isCobraUsage(err) {
		text += "; see 'weir --help'"
	}
	fmt.Fprintf(stderr, "weir: %s\n", text)
	var usage usageError
	if errors.As(err, &usage) || isCobraUsage(err) {
		return exitUsage
	}
	return exitFailed
}

// isCobraUsage recognises the two mistakes that cobra reports as plain errors before a command of ours runs.
func isCobraUsage(err error) bool {
	text := err.Error()
	return strings.HasPrefix(text, "unknown command") || strings.HasPrefix(text, "required flag(s)")
}

func newRoot(stdin io.Reader, stdout, stderr io.Writer) *cobra.Command {
	g := &globals{stdin: stdin, stdout: stdout, stderr: stderr}
	root := &cobra.Command{
		Use:   "weir",
		Short: "A Kafka-compatible broker in one binary",
		Long: `weir is a Kafka-compatible broker in one binary. Point the producers, consumers and Kafka tools you have at it.

Start a broker with no configuration, then look at it from another terminal:

  weir dev
  weir topic create hello --partitions 3
  echo 'hello, world' | weir produce hello
  weir consume hello -n 1`,
		Version:       Version,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(*cobra.Command, []string) error {
			if g.output != outputTable && g.output != outputJSON {
				return usageError{fmt.Errorf("-o %s: unknown output format; use table or json", g.output)}
			}
			return nil
		},
	}
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		text := err.Error()
		var number *strconv.NumError
		if errors.As(err, &number) { // Go's wording says nothing to who typed the number
			text = strings.Replace(text, number.Error(), "not a number, or out of range", 1)
		}
		return usageError{fmt.Errorf("%s; see '%s --help'", text, cmd.CommandPath())}
	})
	root.SetGlobalNormalizationFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "bootstrap-server" || name == "bootstrap-servers" { // as Kafka's tools and clients call it
			name = "bootstrap"
		}
		return pflag.NormalizedName(name)
	})
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, given []string) {
		for _, name := range idleFlags(cmd) {
			if flag := root.PersistentFlags().Lookup(name); flag != nil {
				flag.Hidden = true
				defer func() { flag.Hidden = false }()
			}
		}
		help(cmd, given)
	})
	bootstrap := "127.0.0.1:9092"
	if env := os.Getenv("WEIR_BOOTSTRAP"); env != "" {
		bootstrap = env
	}
	root.PersistentFlags().StringVar(&g.bootstrap, "bootstrap", bootstrap, "brokers to talk to, host:port[,host:port]; also WEIR_BOOTSTRAP")
	root.PersistentFlags().StringVarP(&g.output, "output", "o", outputTable, "output format: table or json")
	_ = root.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{outputTable, outputJSON}, cobra.ShellCompDirectiveNoFileComp))
	root.AddCommand(newDevCommand(g), newServeCommand(g), newTopicCommand(g), newGroupCommand(g), newConfigCommand(g), newProduceCommand(g),
		newConsumeCommand(g), newLogCommand(g), newBenchCommand(g), newVersionCommand(g))
	return root
}

// withoutFlags is the annotation of commands for which shared flags mean nothing, with the names of those flags. They are taken there, as
// everywhere, but their help is silent about them.
const withoutFlags = "without"

// idleFlags returns the shared flags that mean nothing to cmd.
func idleFlags(cmd *cobra.Command) []string {
	for c := cmd; c != nil; c = c.Parent() {
		if names, ok := c.Annotations[withoutFlags]; ok {
			return strings.Fields(names)
		}
		if c.Name() == "completion" && c.Parent() == c.Root() { // cobra's own
			return []string{"bootstrap", "output"}
		}
	}
	return nil
}
