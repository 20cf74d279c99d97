#![cfg_attr(fuzzing, no_main)]

portcullis_fuzz::target!(sitemap);
