#!/usr/bin/env ruby
# Matchers in Ruby as runners of `portcullis-bench` (benches/RUNNERS.md).
#
#     portcullis-bench conform --runner "webrobots=ruby benches/runners/ruby.rb webrobots"
#
# Each function takes the bytes of a file and the agent, and returns an object with `allowed?`.

LIBRARIES = {
  "webrobots" => lambda { |content, agent|
    require "webrobots"
    # It reads the file at the first question.
    WebRobots.new(agent, http_get: ->(_) { content.dup }, crawl_delay: :ignore)
  },
  "spider" => lambda { |content, agent|
    require "spider/robot_rules"
    HostRules.new(RobotRules.new(agent), content)
  },
}

# RobotRules keeps the rules of each host.
HostRules = Struct.new(:rules, :content) do
  def allowed?(url)
    origin = url[%r{\A\w+://[^/?]*}]
    rules.parse(origin + "/robots.txt", content.dup)
    rules.allowed?(url)
  end
end

def now
  Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
end

# An error is no answer.
def attempt
  yield
rescue StandardError => error
  error
end

def answer(matcher, url)
  allowed = attempt { matcher.allowed?(url) }
  allowed.is_a?(Exception) ? "?" : (allowed ? "1" : "0")
end

$stdin.binmode
$stdout.sync = true
library, version = ARGV
agent, texts, matchers, urls = "", [], [], []
while (line = $stdin.gets)
  word, rest = line.chomp.split(" ", 2)
  case word
  when "portcullis-bench" then puts "runner #{version}"
  when "agent" then agent = rest
  when "files"
    texts = Array.new(rest.to_i) { $stdin.read($stdin.gets.to_i + 1)[0...-1] }
  when "build"
    start = now
    matchers = texts.map { |text| attempt { LIBRARIES.fetch(library).call(text, agent) } }
    time = now - start
    matchers.each_with_index { |it, file| puts "refused #{file} #{it.class}" if it.is_a?(Exception) }
    puts "built #{time}"
  when "urls"
    urls = Array.new(rest.to_i) { $stdin.gets.chomp.split(" ", 2) }
    urls.each { |_, url| url.force_encoding("UTF-8") }
  when "decide"
    start = now
    answers = urls.map { |file, url| answer(matchers[file.to_i], url) }
    puts "decided #{now - start} #{answers.join}"
  else abort "ruby.rb: no such request: #{word}"
  end
end
