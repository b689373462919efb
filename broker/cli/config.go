package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/config"
)

// sourceTopic marks what a topic sets itself.
const sourceTopic = kmsg.ConfigSourceDynamicTopicConfig

func newConfigCommand(g *globals) *cobra.Command {
	return commandGroup("config", "Get and change the configuration of topics, brokers and groups",
		"  weir config get topic orders\n  weir config set topic orders retention.ms=3600000\n  weir config delete topic orders retention.ms",
		newConfigGetCommand(g), newConfigSetCommand(g), newConfigDeleteCommand(g))
}

// configKind is a kind of resource as users name it.
type configKind struct {
	typ   kmsg.ConfigResourceType
	scope config.Scope
}

var configKinds = map[string]configKind{
	"topic":  {kmsg.ConfigResourceTypeTopic, config.ScopeTopic},
	"broker": {kmsg.ConfigResourceTypeBroker, config.ScopeBroker},
	"group":  {kmsg.ConfigResourceTypeGroupConfig, config.ScopeGroup},
}

// resource reads KIND NAME. The name "default" of a broker is the dynamic default of all brokers.
func resource(kind, name string) (configKind, string, error) {
	k, ok := configKinds[kind]
	if !ok {
		return k, "", usageError{fmt.Errorf("%q has no configuration; use topic, broker or group", kind)}
	}
	if k.scope == config.ScopeBroker {
		if name == "default" {
			return k, "", nil
		}
		if strings.Trim(name, "0123456789") != "" || name == "" {
			return k, "", usageError{fmt.Errorf("broker %q: not a broker's id; use a number, or default for all brokers", name)}
		}
	}
	return k, name, nil
}

const configLong = `
KIND NAME is one of:
  topic NAME
  broker ID, or broker default for all brokers
  group NAME`

// configRow is one line of the JSON output of config get.
type configRow struct {
	Name      string        `json:"name"`
	Value     *string       `json:"value"`
	Source    string        `json:"source"`
	Type      string        `json:"type"`
	ReadOnly  bool          `json:"read_only"`
	Sensitive bool          `json:"sensitive"`
	Synonyms  []configLayer `json:"synonyms"`
	Doc       string        `json:"doc,omitempty"`
}

type configLayer struct {
	Name   string  `json:"name"`
	Value  *string `json:"value"`
	Source string  `json:"source"`
}

var sourceNames = map[kmsg.ConfigSource]string{
	kmsg.ConfigSourceDynamicTopicConfig:         "topic",
	kmsg.ConfigSourceDynamicBrokerConfig:        "broker",
	kmsg.ConfigSourceDynamicDefaultBrokerConfig: "cluster default",
	kmsg.ConfigSourceStaticBrokerConfig:         "broker file",
	kmsg.ConfigSourceDefaultConfig:              "default",
	kmsg.ConfigSourceDynamicBrokerLoggerConfig:  "broker logger",
	kmsg.ConfigSourceGroupConfig:                "group",
}

func sourceName(s kmsg.ConfigSource) string {
	if name := sourceNames[s]; name != "" {
		return name
	}
	return "unknown"
}

func newConfigGetCommand(g *globals) *cobra.Command {
	var all, doc bool
	cmd := &cobra.Command{
		Use:   "get KIND NAME [KEY...]",
		Short: "Show a configuration",
		Long: "Show a configuration: what is set, with --all also what is default, or the keys that are named. JSON output has every layer " +
			"that sets a property, strongest first.\n" + configLong,
		Example:           "  weir config get topic orders\n  weir config get broker 1 --all\n  weir config get topic orders retention.ms -o json",
		Args:              args(cobra.MinimumNArgs(2), "KIND NAME [KEY...]"),
		ValidArgsFunction: g.completeConfig(false),
		RunE: func(cmd *cobra.Command, given []string) error {
			kind, name, err := resource(given[0], given[1])
			if err != nil {
				return err
			}
			cl, err := g.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer cl.Close()
			keys := given[2:]
			rows, err := describeConfig(cmd.Context(), cl, kind, name, keys, doc)
			if err != nil {
				return failedConfig(given, err)
			}
			for _, key := range keys {
				if !slices.ContainsFunc(rows, func(r configRow) bool { return r.Name == key }) {
					return notDescribed(given, kind, key)
				}
			}
			if !all && len(keys) == 0 {
				rows = slices.DeleteFunc(rows, func(r configRow) bool { return r.Source == "default" || inherited(kind, r) })
			}
			return printConfig(g, rows)
		},
	}
	cmd.Flags().BoolVarP(&all, "all", "a", false, "show what is default or inherited too")
	cmd.Flags().BoolVar(&doc, "doc", false, "add what each property means (with -o json)")
	return cmd
}

// notDescribed is the error for a property that a broker does not tell of.
func notDescribed(given []string, kind configKind, key string) error {
	if _, known := config.Lookup(kind.scope, key); known {
		return fmt.Errorf("%s %s: %s is not set; see 'weir config get %s %s --all'", given[0], given[1], key, given[0], given[1])
	}
	return unknownKey(given, key, propertyNames(kind.scope, ""))
}

// inherited reports whether a topic or group only has the value because its broker does.
func inherited(kind configKind, r configRow) bool {
	return kind.scope == config.ScopeTopic && r.Source != "topic" || kind.scope == config.ScopeGroup && r.Source != "group"
}

func describeConfig(ctx context.Context, cl *kgo.Client, kind configKind, name string, keys []string, doc bool) ([]configRow, error) {
	req := kmsg.NewPtrDescribeConfigsRequest()
	req.IncludeSynonyms, req.IncludeDocumentation = true, doc
	item := kmsg.NewDescribeConfigsRequestResource()
	item.ResourceType, item.ResourceName = kind.typ, name
	if len(keys) > 0 {
		item.ConfigNames = keys
	}
	req.Resources = append(req.Resources, item)
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		return nil, err
	}
	var rows []configRow
	for _, r := range resp.Resources {
		if err := answerError(r.ErrorCode, r.ErrorMessage); err != nil {
			return nil, err
		}
		for _, c := range r.Configs {
			row := configRow{
				Name: c.Name, Value: c.Value, Source: sourceName(c.Source), Type: strings.ToLower(c.ConfigType.String()),
				ReadOnly: c.ReadOnly, Sensitive: c.IsSensitive, Synonyms: []configLayer{},
			}
			if doc && c.Documentation != nil {
				row.Doc = *c.Documentation
			}
			for _, s := range c.ConfigSynonyms {
				row.Synonyms = append(row.Synonyms, configLayer{s.Name, s.Value, sourceName(s.Source)})
			}
			rows = append(rows, row)
		}
	}
	slices.SortFunc(rows, func(a, b configRow) int { return strings.Compare(a.Name, b.Name) })
	return rows, nil
}

func printConfig(g *globals, rows []configRow) error {
	if g.output == outputJSON {
		for _, r := range rows {
			if err := printJSON(g.stdout, r); err != nil {
				return err
			}
		}
		return nil
	}
	out := newTable(g.stdout, "PROPERTY", "VALUE", "SOURCE")
	for _, r := range rows {
		value := "null"
		switch {
		case r.Sensitive:
			value = "(hidden)"
		case r.Value != nil:
			value = *r.Value
		}
		out.row(r.Name, value, r.Source)
	}
	return out.flush()
}

// brokerError is an error code with the broker's own message.
type brokerError struct {
	code    error
	message string
}

func (e *brokerError) Error() string { return e.code.Error() }
func (e *brokerError) Unwrap() error { return e.code }

func answerError(code int16, message *string) error {
	err := kerr.ErrorForCode(code)
	if err == nil {
		return nil
	}
	e := &brokerError{code: err}
	if message != nil {
		e.message = *message
	}
	return e
}

func failedConfig(given []string, err error) error {
	detail := ""
	var answered *brokerError
	if errors.As(err, &answered) {
		detail = answered.message
	}
	return failed(given[0]+" "+given[1], err, detail)
}

const (
	opSet      = kmsg.IncrementalAlterConfigOpSet
	opDelete   = kmsg.IncrementalAlterConfigOpDelete
	opAppend   = kmsg.IncrementalAlterConfigOpAppend
	opSubtract = kmsg.IncrementalAlterConfigOpSubtract
)

// alteration is one key of an IncrementalAlterConfigs request.
type alteration struct {
	op    kmsg.IncrementalAlterConfigOp
	key   string
	value *string
}

func alterConfig(ctx context.Context, cl *kgo.Client, kind configKind, name string, changes []alteration, validateOnly bool) error {
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	req.ValidateOnly = validateOnly
	item := kmsg.NewIncrementalAlterConfigsRequestResource()
	item.ResourceType, item.ResourceName = kind.typ, name
	for _, change := range changes {
		c := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		c.Name, c.Op, c.Value = change.key, change.op, change.value
		item.Configs = append(item.Configs, c)
	}
	req.Resources = append(req.Resources, item)
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		return err
	}
	for _, r := range resp.Resources {
		if err := answerError(r.ErrorCode, r.ErrorMessage); err != nil {
			return err
		}
	}
	return nil
}

func newConfigSetCommand(g *globals) *cobra.Command {
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "set KIND NAME KEY=VALUE...",
		Short: "Set properties",
		Long: "Set properties; others stay as they are. All of them are set, or none. KEY+=VALUE adds to a list, KEY-=VALUE removes from it.\n" +
			configLong,
		Example:           "  weir config set topic orders retention.ms=3600000 segment.ms=600000\n  weir config set topic orders cleanup.policy+=compact",
		Args:              changeArgs("KIND NAME KEY=VALUE..."),
		ValidArgsFunction: g.completeConfig(true),
		RunE: func(cmd *cobra.Command, given []string) error {
			names, values, err := keyValues(given[2:])
			if err != nil {
				return err
			}
			var changes []alteration
			for _, key := range names {
				value := values[key]
				change := alteration{opSet, key, &value}
				if base, ok := strings.CutSuffix(key, "+"); ok {
					change.op, change.key = opAppend, base
				} else if base, ok := strings.CutSuffix(key, "-"); ok {
					change.op, change.key = opSubtract, base
				}
				changes = append(changes, change)
			}
			return runAlter(cmd.Context(), g, given, changes, dryRun)
		},
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "check, and change nothing")
	return cmd
}

func newConfigDeleteCommand(g *globals) *cobra.Command {
	var dryRun bool
	cmd := &cobra.Command{
		Use:               "delete KIND NAME KEY...",
		Short:             "Return properties to their defaults",
		Long:              "Return properties to what they are without being set here.\n" + configLong,
		Example:           "  weir config delete topic orders retention.ms",
		Args:              changeArgs("KIND NAME KEY..."),
		ValidArgsFunction: g.completeConfig(false),
		RunE: func(cmd *cobra.Command, given []string) error {
			var changes []alteration
			for _, key := range given[2:] {
				if strings.Contains(key, "=") {
					return usageError{fmt.Errorf("%q: give only the key to delete", key)}
				}
				changes = append(changes, alteration{opDelete, key, nil})
			}
			return runAlter(cmd.Context(), g, given, changes, dryRun)
		},
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "check, and change nothing")
	return cmd
}

// changeArgs checks KIND NAME KEY. NAME is what is forgotten: a key then stands in its place.
func changeArgs(want string) cobra.PositionalArgs {
	count := args(cobra.MinimumNArgs(3), want)
	return func(cmd *cobra.Command, given []string) error {
		if len(given) < 2 {
			return count(cmd, given)
		}
		kind, known := configKinds[given[0]]
		key, _, assigned := strings.Cut(given[1], "=")
		_, property := config.Lookup(kind.scope, key)
		if !known || !assigned && (!property || len(given) > 2) {
			return count(cmd, given)
		}
		name, more := "NAME", ""
		if kind.scope == config.ScopeBroker {
			name, more = "1", ", or default in place of 1 for all brokers"
		}
		return usageError{fmt.Errorf("NAME is missing before %s; use '%s %s %s %s'%s",
			given[1], cmd.CommandPath(), given[0], name, strings.Join(given[1:], " "), more)}
	}
}

func runAlter(ctx context.Context, g *globals, given []string, changes []alteration, dryRun bool) error {
	kind, name, err := resource(given[0], given[1])
	if err != nil {
		return err
	}
	cl, err := g.connect(ctx)
	if err != nil {
		return err
	}
	defer cl.Close()
	before, err := loadConfigState(ctx, cl, kind, name, given)
	if err != nil {
		return err
	}
	var changed, same []string
	for _, c := range changes {
		if err := before.check(c.key); err != nil {
			return err
		}
		if before.changes(c) {
			changed = append(changed, c.key)
		} else {
			same = append(same, c.key)
		}
	}
	if err := alterConfig(ctx, cl, kind, name, changes, dryRun); err != nil {
		err = failedConfig(given, err)
		if keys := before.readOnly(changes); len(keys) > 0 {
			err = fmt.Errorf("%w; set %s in the broker's properties file or with --override, and restart it", err, strings.Join(keys, ", "))
		}
		return err
	}
	if g.output == outputJSON {
		return printJSON(g.stdout, map[string]any{"kind": given[0], "name": given[1], "changes": len(changed), "dry_run": dryRun})
	}
	if done := "changed"; len(changed) > 0 {
		if dryRun {
			done = "could change"
		}
		g.report("%s %s of %s %s\n", done, strings.Join(changed, ", "), given[0], given[1])
	}
	if len(same) > 0 {
		state := "already so"
		if changes[0].op == opDelete {
			state = "not set"
		}
		g.report("unchanged %s of %s %s (%s)\n", strings.Join(same, ", "), given[0], given[1], state)
	}
	return nil
}

// completeProperties offers property names of a kind, with "=" to go on with a value.
func completeProperties(kind string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return propertyNames(configKinds[kind].scope, "="), cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
	}
}

func propertyNames(scope config.Scope, suffix string) []string {
	rows := map[config.Scope][]config.Property{
		config.ScopeTopic: config.TopicProperties, config.ScopeGroup: config.GroupProperties, config.ScopeBroker: config.BrokerProperties(),
	}[scope]
	var names []string
	for i := range rows {
		if !rows[i].Internal && !rows[i].Inert {
			names = append(names, rows[i].Name+suffix)
		}
	}
	return names
}

// completeConfig offers KIND, then NAME of topics, then keys.
func (g *globals) completeConfig(values bool) cobra.CompletionFunc {
	return func(cmd *cobra.Command, given []string, _ string) ([]string, cobra.ShellCompDirective) {
		switch {
		case len(given) == 0:
			return []string{"topic", "broker", "group"}, cobra.ShellCompDirectiveNoFileComp
		case len(given) == 1 && given[0] == "topic":
			return g.topicNames(cmd.Context(), nil), cobra.ShellCompDirectiveNoFileComp
		case len(given) == 1 && given[0] == "broker":
			return []string{"default"}, cobra.ShellCompDirectiveNoFileComp
		case len(given) < 2:
			return nil, cobra.ShellCompDirectiveNoFileComp
		case values:
			return propertyNames(configKinds[given[0]].scope, "="), cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
		}
		return propertyNames(configKinds[given[0]].scope, ""), cobra.ShellCompDirectiveNoFileComp
	}
}
