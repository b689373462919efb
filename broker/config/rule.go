package config

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Rule is what a value must satisfy beyond having its type. The zero Rule accepts everything.
type Rule struct {
	text     string // how documentation shows it
	distinct bool   // repeated list items are dropped before the check
	check    func(name string, v value) error
}

// String describes the valid values, "" if all are.
func (r Rule) String() string { return r.text }

func (r Rule) ensure(name string, v value) error {
	if r.check == nil {
		return nil
	}
	return r.check(name, v)
}

func number(v value) float64 {
	if v.typ == Double {
		return v.real
	}
	return float64(v.num)
}

func plain(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func atLeast(least float64) Rule {
	return Rule{text: "[" + plain(least) + ",...]", check: func(name string, v value) error {
		switch {
		case v.null:
			return invalidValue(name, "null", "Value must be non-null")
		case number(v) < least:
			return invalidValue(name, v.String(), "Value must be at least "+plain(least))
		}
		return nil
	}}
}

func between(least, most float64) Rule {
	low := atLeast(least)
	return Rule{text: "[" + plain(least) + ",...," + plain(most) + "]", check: func(name string, v value) error {
		if err := low.check(name, v); err != nil {
			return err
		}
		if number(v) > most {
			return invalidValue(name, v.String(), "Value must be no more than "+plain(most))
		}
		return nil
	}}
}

// betweenOr allows one value outside the range, as gzip's level -1 (the library's default).
func betweenOr(least, most, other int64) Rule {
	text := fmt.Sprintf("[%d,...,%d] or %d", least, most, other)
	return Rule{text: text, check: func(name string, v value) error {
		switch {
		case v.null:
			return invalidValue(name, "null", "Value must be non-null")
		case v.num != other && (v.num < least || v.num > most):
			return invalidValue(name, v.String(), fmt.Sprintf("Value must be between %d and %d or equal to %d", least, most, other))
		}
		return nil
	}}
}

func oneOf(values ...string) Rule {
	return Rule{text: "[" + strings.Join(values, ", ") + "]", check: func(name string, v value) error {
		if v.null || !slices.Contains(values, v.text) {
			return invalidValue(name, v.String(), "String must be one of: "+strings.Join(values, ", "))
		}
		return nil
	}}
}

func oneOfAnyCase(values ...string) Rule {
	return Rule{text: "(case insensitive) [" + strings.Join(values, ", ") + "]", check: func(name string, v value) error {
		same := func(s string) bool { return strings.EqualFold(s, v.text) }
		if v.null || !slices.ContainsFunc(values, same) {
			return invalidValue(name, v.String(), "String must be one of (case insensitive): "+strings.Join(values, ", "))
		}
		return nil
	}}
}

func nonEmpty() Rule {
	return Rule{text: "non-empty string", check: func(name string, v value) error {
		if !v.null && v.text == "" {
			return invalidValue(name, "", "String must be non-empty")
		}
		return nil
	}}
}

// listRule checks a list's items: distinct, none empty, and of the given ones if there are any.
func listRule(emptyAllowed bool, items ...string) Rule {
	text := ""
	if len(items) > 0 {
		text = "[" + strings.Join(items, ", ") + "]"
	}
	return Rule{text: text, distinct: true, check: func(name string, v value) error {
		if v.null {
			return nil
		}
		if !emptyAllowed && len(v.list) == 0 {
			valid := text
			if valid == "" {
				valid = "any non-empty value"
			}
			return invalid("Configuration '%s' must not be empty. Valid values include: %s", name, valid)
		}
		for _, item := range v.list {
			if item == "" {
				return invalid("Configuration '%s' values must not be empty.", name)
			}
			if len(items) > 0 && !slices.Contains(items, item) {
				return invalidValue(name, item, "String must be one of: "+strings.Join(items, ", "))
			}
		}
		return nil
	}}
}

func listOf(items ...string) Rule         { return listRule(true, items...) }
func nonEmptyListOf(items ...string) Rule { return listRule(false, items...) }

var replicaPair = regexp.MustCompile(`^([0-9]+:[0-9]+)?$`)

// throttledReplicas is the form of the two *.replication.throttled.replicas lists: "*" or pairs, an empty item being allowed.
func throttledReplicas() Rule {
	text := "[partitionId]:[brokerId],[partitionId]:[brokerId],..."
	return Rule{text: text, check: func(name string, v value) error {
		isPair := func(s string) bool { return replicaPair.MatchString(trimJava(s)) }
		if strings.Join(v.list, "") == "*" || !slices.ContainsFunc(v.list, func(s string) bool { return !isPair(s) }) {
			return nil
		}
		return invalidValue(name, v.forMessage(),
			name+" must be the literal '*' or a list of replicas in the following format: "+text)
	}}
}

var isoDuration = regexp.MustCompile(`^P(?:[0-9]+D)?(?:T(?:[0-9]+H)?(?:[0-9]+M)?(?:[0-9]+(?:\.[0-9]{1,9})?S)?)?$`)

// offsetReset is where a share group starts: the log's end, its start, or a duration back from now (KIP-1106).
func offsetReset() Rule {
	text := "[latest, earliest, by_duration:PnDTnHnMn.nS]"
	return Rule{text: text, check: func(name string, v value) error {
		by, isDuration := strings.CutPrefix(v.text, "by_duration:")
		switch {
		case v.text == "latest" || v.text == "earliest":
			return nil
		case isDuration && isoDuration.MatchString(by) && strings.ContainsAny(by, "0123456789") && !strings.HasSuffix(by, "T"):
			return nil
		}
		return invalidValue(name, v.String(), fmt.Sprintf("Invalid value `%s` for configuration %s. The value must be either "+
			"'earliest', 'latest' or of the format 'by_duration:<PnDTnHnMn.nS>'.", v.String(), name))
	}}
}
