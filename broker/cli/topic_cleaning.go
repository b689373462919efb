package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/weir-broker/weir/broker/adminhttp"
)

// cleaningTimeout bounds the question to one broker's admin listener: topic describe has its answer without it.
const cleaningTimeout = 3 * time.Second

// describedCleaning is how the compaction of one replica goes, or why its broker could not be asked.
type describedCleaning struct {
	Broker int32 `json:"broker"`
	adminhttp.Cleaning
	Unknown string `json:"unknown,omitempty"`
}

// describeCleaning asks the brokers how the cleaning of a topic goes. Kafka's protocol has no request for it, so the question
// goes to the admin listeners, whose addresses are among the brokers' properties.
func describeCleaning(ctx context.Context, adm *kadm.Client, topic string) []describedCleaning {
	brokers, err := adm.ListBrokers(ctx)
	if err != nil {
		return []describedCleaning{{Broker: -1, Unknown: err.Error()}}
	}
	var rows []describedCleaning
	for _, b := range brokers {
		found, err := askCleaning(ctx, adm, b, topic)
		if err != nil {
			rows = append(rows, describedCleaning{Broker: b.NodeID, Cleaning: adminhttp.Cleaning{Topic: topic, Partition: -1}, Unknown: err.Error()})
		}
		for _, c := range found {
			rows = append(rows, describedCleaning{Broker: b.NodeID, Cleaning: c})
		}
	}
	slices.SortStableFunc(rows, func(a, b describedCleaning) int { return int(a.Partition) - int(b.Partition) })
	return rows
}

func askCleaning(ctx context.Context, adm *kadm.Client, b kadm.BrokerDetail, topic string) ([]adminhttp.Cleaning, error) {
	address, err := adminAddress(ctx, adm, b)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, cleaningTimeout)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/v1/cleaning?topic="+url.QueryEscape(topic), nil)
	if err != nil {
		return nil, err
	}
	res, err := http.DefaultClient.Do(q)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", q.URL, res.Status)
	}
	var rows []adminhttp.Cleaning
	if err := json.NewDecoder(http.MaxBytesReader(nil, res.Body, 64<<20)).Decode(&rows); err != nil {
		return nil, fmt.Errorf("%s: %w", q.URL, err)
	}
	return rows, nil
}

// adminAddress is where a broker's admin listener can be reached. One that listens everywhere is asked at the broker's host.
func adminAddress(ctx context.Context, adm *kadm.Client, b kadm.BrokerDetail) (string, error) {
	const key = "weir.admin.address"
	configs, err := adm.DescribeBrokerConfigs(ctx, b.NodeID)
	if err != nil {
		return "", err
	}
	for _, resource := range configs {
		for _, c := range resource.Configs {
			if c.Key != key {
				continue
			}
			host, port, err := net.SplitHostPort(c.MaybeValue())
			if err != nil {
				return "", fmt.Errorf("the broker has no admin listener (%s is %q)", key, c.MaybeValue())
			}
			if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
				host = b.Host
			}
			return net.JoinHostPort(host, port), nil
		}
	}
	return "", fmt.Errorf("the broker does not say its %s", key)
}

func printCleaning(g *globals, rows []describedCleaning) error {
	out := newTable(g.stdout, "PARTITION", "BROKER", "CLEANED TO", "UNCLEANED BYTES", "LAST ROUND", "PROBLEM")
	for _, r := range rows {
		if r.Unknown != "" {
			out.row("?", fmt.Sprint(r.Broker), "?", "?", "?", "not known: "+r.Unknown)
			continue
		}
		to, last, problem := "-", r.LastRound, r.Error
		if r.CleanedTo >= 0 {
			to = strconv.FormatInt(r.CleanedTo, 10)
		}
		if last == "" {
			last = "none yet"
		}
		if r.Uncleanable {
			problem = "uncleanable until restart: " + problem
		}
		out.row(fmt.Sprint(r.Partition), fmt.Sprint(r.Broker), to, fmt.Sprintf("%d (%.0f%%)", r.DirtyBytes, 100*r.DirtyRatio), last, problem)
	}
	return out.flush()
}
