# Everyone keeps out of the work rooms; Googlebot may see the style sheets.
User-agent: *
Disallow: /includes/
Disallow: /tmp/
Disallow: /search

User-agent: Googlebot
Allow: /includes/
Disallow: /tmp/

Sitemap: https://example.com/sitemap.xml
