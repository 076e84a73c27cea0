"""What source and sink do in Redis, each as one script that does all of it or nothing."""

from __future__ import annotations

BEGIN = """
local rows, progress = KEYS[1], KEYS[2]
local known = tonumber(redis.call('HGET', progress, 'epoch') or '0')
local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
local epoch = string.format('%.0f', math.max(known + 1, ARGV[1] + 1, now_ms))
local sent = math.max(tonumber(redis.call('HGET', progress, 'sent') or '0'), tonumber(ARGV[2]))
if ARGV[3] == '1' then
  local last = redis.call('XREVRANGE', rows, '+', '-', 'COUNT', 1)[1]
  if not last then return false end
  local fields = {}
  for i = 1, #last[2], 2 do fields[last[2][i]] = last[2][i + 1] end
  local _, feeds = string.gsub(fields.lines or '', '\\n', '')
  local row = (tonumber(fields.n) or math.huge) + feeds
  local done = true
  for i = 4, #ARGV do
    done = done and tonumber(redis.call('HGET', progress, 'seen:' .. ARGV[i]) or '0') >= row
  end
  if done then return false end
end
local origin, entry
local queries = {}
for i = 4, #ARGV do
  local query = ARGV[i]
  local n = redis.call('HGET', progress, 'rebuild_n:' .. query) or '1'
  if not origin or tonumber(n) < tonumber(origin) then
    origin = n
    entry = redis.call('HGET', progress, 'rebuild_id:' .. query)
  end
  queries[#queries + 1] = {
    query, n, redis.call('HGET', progress, 'rebuild_clock:' .. query) or '-',
    redis.call('HGET', progress, 'released:' .. query) or '0'}
end
local after = '0'
if entry then
  local before = redis.call('XREVRANGE', rows, '(' .. entry, '-', 'COUNT', 1)
  if before[1] then after = before[1][1] end
end
if redis.call('EXISTS', rows) == 1 then
  for _, group in ipairs(redis.call('XINFO', 'GROUPS', rows)) do
    redis.call('XGROUP', 'DESTROY', rows, group[2])
  end
end
redis.call('XGROUP', 'CREATE', rows, 'epoch-' .. epoch, after, 'MKSTREAM')
redis.call('HSET', progress, 'epoch', epoch, 'sent', sent)
redis.call('HINCRBY', progress, 'epochs', 1)
for _, query in ipairs(queries) do
  redis.call('HSET', progress, 'seen:' .. query[1], tonumber(origin) - 1)
end
return {known, epoch, origin, queries, sent}
"""
"""Begins an epoch: from then on every older sink is refused, and every older source gets no more rows.

Its number is above those that Redis and the source know, and not below Redis' time: so it is also above those
that were given before Redis came back with an older state, which only the bolts may remember. A clock that
went back costs epochs that bolts drop until the source has leapt up to theirs, never an answer.

Keys: stream of rows, hash of progress. Arguments: an epoch that it has to be above, the last row that it has
sent (0: none), 1 if nothing shall be done while all rows that are there are worked off (the answer is nil
then), the queries. Returns the epoch that Redis knew, the new one (a text), its origin, per query: name,
start, clock (`-`: none), released row; and the highest row that any source has sent.
"""

RELEASE = """
local progress, results, query = KEYS[1], KEYS[2], ARGV[1]
if redis.call('HGET', progress, 'epoch') ~= ARGV[2] then
  return redis.error_reply('STALE epoch ' .. ARGV[2] .. ' is over')
end
if #ARGV > 4 then
  local released = tonumber(redis.call('HGET', progress, 'released:' .. query) or '0')
  if released + 1 ~= tonumber(ARGV[3]) then
    return redis.error_reply('GAP results from row ' .. ARGV[3] .. ' on do not follow row ' .. released)
  end
  redis.call('XADD', results, '*', unpack(ARGV, 8))
  redis.call('HSET', progress, 'released:' .. query, ARGV[4], 'rebuild_id:' .. query, ARGV[5],
    'rebuild_n:' .. query, ARGV[6], 'rebuild_clock:' .. query, ARGV[7])
end
redis.call('HSET', progress, 'seen:' .. query, ARGV[4])
return 1
"""
"""Writes the results of a batch once, or, with four arguments, notes that its rows were worked off again.

Keys: hash of progress, stream of results. Arguments: query, epoch, first and last row of the batch; then
entry, row and clock (`-`: none) from which the windows can be rebuilt, and fields and values of the result.
Refuses (error `STALE`) an epoch that is over, and (error `GAP`) a batch that does not follow the last one.
"""
