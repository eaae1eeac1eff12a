// csv
