-- Vectors are noise to a compressor: plain storage loads twice and scans three times as fast.
set force_compression = 'uncompressed';
