package config

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// setting is one key of a properties file, with the line it starts on.
type setting struct {
	key, value string
	line       int
}

// syntaxError is a place where a properties file cannot be read.
type syntaxError struct {
	line  int
	cause string
}

// parseProperties reads Java's .properties format: "#" and "!" comments; keys ended by "=", ":" or blanks; a backslash that
// joins lines or escapes a character (\t \n \r \f \uXXXX, any other stands for itself). Text is UTF-8, or Latin-1 if it
// is not valid UTF-8.
func parseProperties(content []byte) ([]setting, []syntaxError) {
	text := strings.TrimPrefix(string(content), "\ufeff")
	if !utf8.ValidString(text) {
		text = fromLatin1(content)
	}
	var settings []setting
	var bad []syntaxError
	lines := naturalLines(text)
	for i := 0; i < len(lines); {
		first := i
		line := strings.TrimLeft(lines[i], " \t\f")
		i++
		if line == "" || line[0] == '#' || line[0] == '!' {
			continue
		}
		for endsInBackslash(line) {
			line = line[:len(line)-1]
			if i == len(lines) {
				break
			}
			line += strings.TrimLeft(lines[i], " \t\f")
			i++
		}
		rawKey, rawValue := splitSetting(line)
		key, err := unescape(rawKey)
		if err == nil {
			var value string
			if value, err = unescape(rawValue); err == nil {
				settings = append(settings, setting{key: key, value: value, line: first + 1})
				continue
			}
		}
		bad = append(bad, syntaxError{line: first + 1, cause: err.Error()})
	}
	return settings, bad
}

func fromLatin1(content []byte) string {
	runes := make([]rune, len(content))
	for i, b := range content {
		runes[i] = rune(b)
	}
	return string(runes)
}

// naturalLines splits at \n, \r and \r\n.
func naturalLines(text string) []string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	return strings.Split(strings.ReplaceAll(text, "\r", "\n"), "\n")
}

func endsInBackslash(line string) bool {
	count := len(line) - len(strings.TrimRight(line, `\`))
	return count%2 == 1
}

// splitSetting cuts a logical line at its first separator that is not escaped.
func splitSetting(line string) (key, value string) {
	end := len(line)
	for i := 0; i < len(line); i++ {
		if line[i] == '\\' {
			i++
			continue
		}
		if strings.IndexByte("=: \t\f", line[i]) >= 0 {
			end = i
			break
		}
	}
	rest := strings.TrimLeft(line[end:], " \t\f")
	if rest != "" && (rest[0] == '=' || rest[0] == ':') {
		rest = strings.TrimLeft(rest[1:], " \t\f")
	}
	return line[:end], rest
}

func unescape(raw string) (string, error) {
	if !strings.ContainsRune(raw, '\\') {
		return raw, nil
	}
	var b strings.Builder
	var units []uint16 // a run of \uXXXX, which may be surrogate pairs
	flush := func() {
		b.WriteString(string(utf16.Decode(units)))
		units = units[:0]
	}
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' || i+1 == len(raw) {
			flush()
			if raw[i] != '\\' {
				b.WriteByte(raw[i])
			}
			continue
		}
		i++
		if raw[i] == 'u' {
			if i+5 > len(raw) {
				return "", fmt.Errorf(`%s is not a unicode escape`, strconv.Quote(raw[i-1:]))
			}
			unit, err := strconv.ParseUint(raw[i+1:i+5], 16, 16)
			if err != nil {
				return "", fmt.Errorf(`%s is not a unicode escape`, strconv.Quote(raw[i-1:i+5]))
			}
			units = append(units, uint16(unit))
			i += 4
			continue
		}
		flush()
		switch raw[i] {
		case 't':
			b.WriteByte('\t')
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 'f':
			b.WriteByte('\f')
		default:
			b.WriteByte(raw[i])
		}
	}
	flush()
	return b.String(), nil
}
