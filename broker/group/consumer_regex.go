package group

import (
	"context"
	"regexp"
	"slices"
	"time"

	"github.com/weir-broker/weir/broker/coordinator"
	"github.com/weir-broker/weir/broker/metadata"
)

// regexRestsFor is how long a group's expressions are not matched again, whatever happens.
const regexRestsFor = 10 * time.Second

// regexChange says what a heartbeat has changed about the member's expression.
type regexChange int8

const (
	regexUnchanged regexChange = iota
	regexUpdated               // what the new one matches is not known yet
	regexResolved              // what the new one matches is known
)

// updateRegex takes the member's new expression, if it is new, and has the group's expressions matched against the topics
// if it is time: all at once, away from the shard, so that a new topic costs a group one rebalance.
func (t *turn) updateRegex(g *consumerGroup, h *heartbeat) (regexChange, *refusal) {
	was, is := h.member.regex(), h.updated.regex()
	change, refresh := regexUnchanged, false
	if !sameString(h.member.metadata.SubscribedTopicRegex, h.updated.metadata.SubscribedTopicRegex) {
		change = regexUpdated
		if was != "" && g.expression[was] == 1 {
			t.append(Key{Type: RegularExpressionType, Group: g.id, Regex: was}, nil)
		}
		switch {
		case is != "" && g.expression[is] == 0:
			if _, err := compileRegex(is); err != nil {
				return change, refusef(invalidRegularExpression, "Not a regular expression: %v.", err)
			}
			refresh = true
		case is != "" && g.resolved[is] != nil, is == "" && was != "":
			change = regexResolved
		}
	}
	if !refresh && len(g.expression) == 0 || t.resolving[g.id] {
		return change, nil
	}
	last, index := g.lastResolved()
	if last >= 0 && t.now.UnixMilli() <= last+regexRestsFor.Milliseconds() {
		return change, nil
	}
	expressions := map[string]int{}
	for regex, n := range g.expression {
		expressions[regex] = n
	}
	if was != is {
		countOne(expressions, was, is)
	}
	refresh = refresh || len(expressions) != len(g.resolved) || index < t.newTopicsIndex ||
		t.now.UnixMilli() > last+t.opt.Consumer.RegexRefreshInterval.Milliseconds()
	if refresh && len(expressions) > 0 {
		t.resolveRegexes(g, h.client, sortedKeys(expressions))
	}
	return change, nil
}

func sameString(a, b *string) bool { return (a == nil) == (b == nil) && orEmpty(a) == orEmpty(b) }

// lastResolved is when the group's expressions were last matched, in milliseconds, and against which image; -1 and 0 if
// never.
func (g *consumerGroup) lastResolved() (at, index int64) {
	at = -1
	for _, v := range g.resolved {
		if at < v.Timestamp {
			at, index = v.Timestamp, v.Version
		}
	}
	return at, index
}

// resolveRegexes matches expressions against the image's topics on a worker. Only topics that the client may see count.
func (t *turn) resolveRegexes(g *consumerGroup, c Client, expressions []string) {
	id, img, at := g.id, t.image, t.now.UnixMilli()
	t.resolving[id] = true
	t.Calls = append(t.Calls, coordinator.Call[*Shard, TimerKey, kmsgResponse]{
		Key: "regex " + id,
		Run: func(ctx context.Context) coordinator.Operation[*Shard, TimerKey, kmsgResponse] {
			resolved := matchTopics(ctx, img, c.Describes, expressions)
			return func(s *Shard, now time.Time, _ Token) Effects {
				return s.regexesResolved(now, id, resolved, int64(img.Index), at)
			}
		},
		Refused: func(s *Shard, _ time.Time, _ Token) Effects {
			delete(s.resolving, id)
			return Effects{}
		},
	})
}

// matchTopics finds for each expression the topics whose whole name it matches, in order.
func matchTopics(ctx context.Context, img *metadata.Image, describes func(topic string) bool, expressions []string) map[string][]string {
	resolved := make(map[string][]string, len(expressions))
	compiled := make([]*regexp.Regexp, len(expressions))
	for i, regex := range expressions {
		resolved[regex] = nil
		compiled[i], _ = compileRegex(regex) // one that does not compile here, as another broker's, matches nothing
	}
	for name := range img.Topics() {
		if ctx.Err() != nil {
			return nil
		}
		asked, may := false, true
		for i, re := range compiled {
			if re == nil || !re.MatchString(name) {
				continue
			}
			if !asked && describes != nil {
				asked, may = true, describes(name)
			}
			if may {
				resolved[expressions[i]] = append(resolved[expressions[i]], name)
			}
		}
	}
	return resolved
}

// regexesResolved records what expressions match, as far as members still subscribe by them.
func (s *Shard) regexesResolved(now time.Time, id string, resolved map[string][]string, index, at int64) Effects {
	t := s.turn(now)
	delete(s.resolving, id)
	g := s.consumers[id]
	if g == nil {
		return t.Effects
	}
	topics := map[string]subscribers{}
	for name, n := range g.topics {
		topics[name] = n
	}
	bump := false
	for _, regex := range sortedKeys(resolved) {
		if g.expression[regex] == 0 {
			continue
		}
		var before []string
		if old := g.resolved[regex]; old != nil {
			before = old.Topics
		}
		if !slices.Equal(before, resolved[regex]) {
			bump = true
			countMatches(topics, before, -1)
			countMatches(topics, resolved[regex], +1)
		}
		t.append(Key{Type: RegularExpressionType, Group: id, Regex: regex},
			&RegularExpressionValue{Topics: resolved[regex], Version: index, Timestamp: at})
	}
	hash := t.hashOf(topics)
	if bump || hash != g.metadataHash {
		t.bump(g, g.epoch+1, hash, "topics of regular expressions")
		g.refreshAt = now.Add(refreshEvery)
	}
	return t.Effects
}
