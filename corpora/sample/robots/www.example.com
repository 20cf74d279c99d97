User-agent: *
Disallow: /private/
Allow: /private/press/

Sitemap: https://www.example.com/sitemap_index.xml
Sitemap: https://cdn.example/maps/www.xml
