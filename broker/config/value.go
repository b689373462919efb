package config

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// value is one parsed property value. Only the field of its type is set.
type value struct {
	typ  Type
	null bool
	text string // String, Class, Password
	num  int64  // Int, Short, Long
	real float64
	flag bool
	list []string
}

var commaSeparator = regexp.MustCompile(`[ \t\n\v\f\r]*,[ \t\n\v\f\r]*`)

// trimJava removes what Java's String.trim removes: every character up to the space.
func trimJava(s string) string {
	return strings.TrimFunc(s, func(r rune) bool { return r <= ' ' })
}

// parseValue reads text as the property's type and checks the property's rule.
func parseValue(p *Property, text string) (value, error) {
	v, err := parseType(p.Name, text, p.Type)
	if err != nil {
		return v, err
	}
	if p.Rule.distinct {
		v.list = withoutDuplicates(v.list)
	}
	return v, p.Rule.ensure(p.Name, v)
}

func withoutDuplicates(list []string) []string {
	var out []string
	seen := make(map[string]bool, len(list))
	for _, item := range list {
		if !seen[item] {
			seen[item] = true
			out = append(out, item)
		}
	}
	return out
}

func parseType(name, text string, typ Type) (value, error) {
	trimmed := trimJava(text)
	v := value{typ: typ}
	notNumber := func() error {
		return invalidValue(name, text, "Not a number of type "+strings.ToUpper(typ.String()))
	}
	switch typ {
	case Boolean:
		switch {
		case strings.EqualFold(trimmed, "true"):
			v.flag = true
		case strings.EqualFold(trimmed, "false"):
		default:
			return v, invalidValue(name, text, "Expected value to be either true or false")
		}
	case Int, Short, Long:
		bits := map[Type]int{Int: 32, Short: 16, Long: 64}[typ]
		n, err := strconv.ParseInt(trimmed, 10, bits)
		if err != nil {
			return v, notNumber()
		}
		v.num = n
	case Double:
		f, err := parseJavaDouble(trimmed)
		if err != nil {
			return v, notNumber()
		}
		v.real = f
	case List:
		if trimmed != "" {
			v.list = commaSeparator.Split(trimmed, -1)
		}
	default:
		v.text = trimmed
	}
	return v, nil
}

// parseJavaDouble accepts what Java's Double.parseDouble does: a type suffix is allowed, infinities are spelled "Infinity", and a
// number too large is an infinity rather than an error.
func parseJavaDouble(s string) (float64, error) {
	body := strings.TrimLeft(s, "+-")
	switch body {
	case "NaN", "Infinity":
		return strconv.ParseFloat(s, 64)
	}
	if body == "" || strings.ContainsRune(s, '_') || !strings.ContainsAny(body[:1], "0123456789.") {
		return 0, strconv.ErrSyntax
	}
	hex := strings.HasPrefix(body, "0x") || strings.HasPrefix(body, "0X")
	if last := s[len(s)-1]; strings.IndexByte("dDfF", last) >= 0 && (!hex || strings.ContainsAny(s, "pP")) {
		s = s[:len(s)-1]
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && math.IsInf(f, 0) {
		return f, nil
	}
	return f, err
}

// String returns the value as DescribeConfigs prints it.
func (v value) String() string {
	if v.null {
		return "null"
	}
	switch v.typ {
	case Boolean:
		return strconv.FormatBool(v.flag)
	case Int, Short, Long:
		return strconv.FormatInt(v.num, 10)
	case Double:
		return formatJavaDouble(v.real)
	case List:
		return strings.Join(v.list, ",")
	default:
		return v.text
	}
}

// forMessage returns the value as Java prints it in an exception, where a list is put in brackets.
func (v value) forMessage() string {
	if v.typ == List && !v.null {
		return "[" + strings.Join(v.list, ", ") + "]"
	}
	return v.String()
}

// formatJavaDouble prints as Java's Double.toString: at least one decimal, and an exponent below 10^-3 or from 10^7.
func formatJavaDouble(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	if abs := math.Abs(f); f == 0 || abs >= 1e-3 && abs < 1e7 {
		s := strconv.FormatFloat(f, 'f', -1, 64)
		if !strings.ContainsRune(s, '.') {
			s += ".0"
		}
		return s
	}
	s := strconv.FormatFloat(f, 'E', -1, 64)
	mantissa, exponent, _ := strings.Cut(s, "E")
	if !strings.ContainsRune(mantissa, '.') {
		mantissa += ".0"
	}
	sign := ""
	if exponent[0] == '-' {
		sign = "-"
	}
	return mantissa + "E" + sign + strings.TrimLeft(exponent, "+-0")
}

// milliseconds converts a property in milliseconds, keeping values too long for a Duration at the longest one.
func milliseconds(n int64) time.Duration {
	const most = int64(math.MaxInt64 / time.Millisecond)
	if n > most {
		return math.MaxInt64
	}
	if n < -most {
		return math.MinInt64
	}
	return time.Duration(n) * time.Millisecond
}
