// Command stub stands for the program of platforms that a test does not build.
package main

import (
	"fmt"
	"os"
)

func main() { fmt.Println(os.Args[1:]) }
