# Makes the files that the commands of the guide name.
mkdir DIR lists old new
printf 'User-agent: *\nDisallow: /private/\nContent-Usage: train-ai=y\n' | tee robots.txt old/robots.txt > DIR/example.com
printf 'User-agent: GPTBot\nDisallow: /\n' | tee new/robots.txt > DIR/blog.example
printf 'https://%s\n' example.com/ example.com/private/1 blog.example/post other.example/ > urls.txt
printf 'Address,Title\n"https://example.com/","Home, and more"\n' > internal_all.csv
printf 'a\tb\thttps://example.com/\n' | gzip > index.tsv.gz
cp urls.txt lists/one.txt
printf '<urlset><url><loc>https://example.com/private/1</loc></url></urlset>' | gzip > sitemap.xml.gz
gzip -c urls.txt | tee lists/two.txt.gz > urls.txt.gz
printf '{"page": {"url": "https://example.com/"}}\n' > frontier.jsonl
printf '{"request": {"url": "https://example.com/robots.txt"}, "status": 200, "response": {"text": "Disallow:"}}\n' > crawl.jsonl
answer=$(printf 'HTTP/1.1 200 OK\r\n\r\nUser-agent: *\r\nDisallow: /private/\r\n.')
answer=${answer%.}
{
    printf 'WARC/1.0\r\nWARC-Type: response\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n'
    printf 'WARC-Target-URI: https://example.com/robots.txt\r\nContent-Type: application/http\r\n'
    printf 'Content-Length: %s\r\n\r\n%s\r\n\r\n' ${#answer} "$answer"
} | gzip > robots-2026-01.warc.gz
{
    portcullis compile -o policies.pcs robots-2026-01.warc.gz
    for copy in yesterday.pcs part-0.pcs part-1.pcs; do cp policies.pcs $copy; done
    portcullis filter -p policies.pcs -a CCBot --any --unknown keep urls.txt -o frontier.txt.zst
    portcullis filter -p policies.pcs -a CCBot --url-field page.url frontier.jsonl -o frontier.jsonl.zst
    portcullis classify -p policies.pcs -a Other urls.txt -o crawl.parquet
} 2>notes
printf '%s\n' > captures.jsonl \
    '{"url": "https://example.com/robots.txt", "status": 200, "fetched_at": "2022-05-01T00:00:00Z", "body": "Disallow:"}' \
    '{"url": "https://example.com/robots.txt", "status": 200, "fetched_at": "2023-06-01T00:00:00Z", "body": "User-agent: GPTBot\nDisallow: /"}'
portcullis compile --history -o history.pcs captures.jsonl 2>>notes
printf 'url\tfetch_time\nhttps://example.com/\t2023-08-01 12:00:00\n' > crawl.tsv
printf '{"url": "https://example.com/", "fetched": {"at": 1690891200000}}\n' > pages.jsonl
printf 'com,example)/ 20230801120000 {"url": "https://example.com/", "status": "200"}\n' > index.cdxj
printf 'url,who\nhttps://example.com/private/,GPTBot\n' > fetches.csv
printf '{"url": "https://example.com/", "request": {"agent": "Mozilla/5.0 (compatible; GPTBot/1.2)"}}\n' > fetches.jsonl
printf '192.0.2.1 - - [10/Oct/2025:13:55:36 -0700] "GET /private/ HTTP/1.1" 200 23 "-" "GPTBot/1.2"\n' > access.log
printf '{"host": "example.com", "uri": "/private/", "args": "page=2"}\n' > requests.jsonl
printf '{"request": {"host": "example.com", "uri": "/private/", "headers": {"User-Agent": ["GPTBot/1.2"]}}}\n' > caddy.jsonl
printf 'a.example:443 192.0.2.1 - - [10/Oct/2025:13:55:36 -0700] "GET /private/ HTTP/1.1" 200 23 "GPTBot/1.2"\n' > apache.log
printf 'a.example [10/Oct/2025:13:55:36 -0700] "GET /private/ HTTP/1.1" 200 "GPTBot/1.2"\n' > nginx.log
