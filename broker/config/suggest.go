package config

// nearest returns the broker property whose name is closest to an unknown one, "" if none is close.
func nearest(name string) string {
	if p, ok := topicIndex[name]; ok && p.Synonym != "" {
		return p.Synonym
	}
	if _, ok := brokerIndex["weir."+name]; ok {
		return "weir." + name
	}
	best, bestDistance := "", 1+len(name)/4
	if bestDistance > 4 {
		bestDistance = 4
	}
	for i := range allBroker {
		if d := distance(name, allBroker[i].Name, bestDistance); d < bestDistance {
			best, bestDistance = allBroker[i].Name, d
		}
	}
	return best
}

// distance is the number of single-character edits between a and b, or limit if it is not below that.
func distance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		least := row[0]
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost++
			}
			diagonal = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
			least = min(least, row[j])
		}
		if least >= limit {
			return limit
		}
	}
	return min(row[len(b)], limit)
}
