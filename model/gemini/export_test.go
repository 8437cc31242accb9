package gemini

var Check = check
