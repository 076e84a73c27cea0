"""What Redis does in one piece: each script changes everything or nothing, and may be sent twice.

All keys are of one run: 1 the stream `rows`, 2 the hash `feed`, 3 the hash `progress`. A script of a feeder
names its token first, so that one that was replaced by another can do no harm.
"""

from __future__ import annotations

BEGIN = """
if redis.call('XLEN', KEYS[1]) > 0 then return 'rows' end
redis.call('DEL', KEYS[2])
redis.call('HSET', KEYS[2], 'feeder', ARGV[1], 'fed', '0', 'crc', '0', unpack(ARGV, 2))
return 'ok'
"""
"""ARGV: token, then fields and values of `feed`. Refuses (`rows`) a run that has rows."""

TAKE_OVER = """
if redis.call('HGET', KEYS[2], 'fed') ~= ARGV[2] then return 'moved' end
redis.call('HDEL', KEYS[2], 'broken')
redis.call('HSET', KEYS[2], 'feeder', ARGV[1], unpack(ARGV, 3))
return 'ok'
"""
"""ARGV: token, rows that are fed, then fields and values. Refuses (`moved`) when rows are still being fed."""

APPEND = """
local feeder = redis.call('HGET', KEYS[2], 'feeder')
if not feeder then return {'gone'} end
if feeder ~= ARGV[1] then return {'taken'} end
local fed = redis.call('HGET', KEYS[2], 'fed')
if fed == ARGV[2] then
  redis.call('XADD', KEYS[1], '*', 'n', ARGV[4], 'lines', ARGV[5])
  redis.call('HSET', KEYS[2], 'fed', ARGV[3], 'crc', ARGV[6])
  local grown = 8 + 2 * tonumber(ARGV[7])
  for i = 8, grown - 1, 2 do redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1]) end
  for i = grown, #ARGV, 2 do redis.call('HINCRBY', KEYS[2], ARGV[i], ARGV[i + 1]) end
elseif fed ~= ARGV[3] then
  return {'lost', fed}
end
return {'ok', redis.call('HGETALL', KEYS[3])}
"""
"""ARGV: token, rows fed before and after, number of the first row, lines, checksum of all lines, how many
fields of `feed` are set, those and their values, then fields and by how much they grow. A batch that is there
already is answered as one that was appended: its first answer was lost."""

END = """
local feeder = redis.call('HGET', KEYS[2], 'feeder')
if not feeder then return {'gone'} end
if feeder ~= ARGV[1] then return {'taken'} end
local fed = redis.call('HGET', KEYS[2], 'fed')
if fed ~= ARGV[2] then return {'lost', fed} end
if not redis.call('HGET', KEYS[2], 'ended') then
  redis.call('XADD', KEYS[1], '*', 'n', ARGV[3], 'end', '1')
  redis.call('HSET', KEYS[2], 'ended', '1', 'rows', fed)
end
return {'ok', redis.call('HGETALL', KEYS[3])}
"""
"""ARGV: token, rows fed, number of the end."""
