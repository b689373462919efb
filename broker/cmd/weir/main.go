// Command weir is the broker and its command line in one binary. Everything it does lives in broker/cli.
package main

import (
	"os"

	"github.com/weir-broker/weir/broker/cli"
)

func main() { os.Exit(cli.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
