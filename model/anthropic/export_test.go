package anthropic

var Check = check
