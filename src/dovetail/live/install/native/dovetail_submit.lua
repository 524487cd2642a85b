-- Tags jobs for Dovetail as they are submitted, and gives each a first site factor.
--
-- Runs inside slurmctld: no network, no waiting, and whatever goes wrong in here the job is
-- accepted as if this script were not there. Load it as the last line of job_submit.lua:
--
--   pcall(loadfile("/etc/slurm/dovetail_submit.lua"), "/run/dovetail", "/etc/dovetail/submit.conf")
--
-- The site's own slurm_job_submit, defined before that line, is asked first; if it refuses a job,
-- that stands. Text that users choose (job names, comments) is compared, never copied.

local run_dir, settings_file = ...
run_dir = run_dir or "/run/dovetail"
settings_file = settings_file or "/etc/dovetail/submit.conf"

local TABLE = run_dir .. "/first_factors"
local HEADER = "^dovetail%-first%-factors 2 (%d+) (%d+)$"
local MOST_BYTES = 65536
local MOST_FACTOR = 2147483645 -- Slurm's own limit
local MOST_NAME = 256 -- characters of a job name that are looked at
local NO_VAL, NO_VAL16 = 4294967294, 65534 -- "not set" in Slurm's numbers

local site_submit = slurm_job_submit
local site_modify = slurm_job_modify

-- Settings: lines of `qos NAME`, `partition NAME`, `account NAME`, `KIND PATTERN`.

local sla = { qos = {}, partition = {}, account = {} }
local patterns = {}
local KINDS = { inference = true, training = true, interactive = true }

-- The pieces of a pattern between its stars.
local function pieces_of(pattern)
  local pieces = {}
  for piece in (pattern:lower() .. "*"):gmatch("([^*]*)%*") do
    pieces[#pieces + 1] = piece
  end
  return pieces
end

local function read_settings()
  local file = io.open(settings_file, "r")
  if not file then
    return
  end
  local text = file:read(MOST_BYTES) or ""
  file:close()
  for line in text:gmatch("[^\r\n]+") do
    local word, value = line:match("^%s*(%a+)%s+(%S+)%s*$")
    if word and sla[word] then
      sla[word][value] = true
    elseif word and KINDS[word] then
      patterns[#patterns + 1] = { kind = word, pieces = pieces_of(value) }
    elseif line:match("^%s*[^#%s]") then
      slurm.log_error("dovetail: %s: a line that says nothing: %.80s", settings_file, line)
    end
  end
end

-- Piece by piece with plain searches: Lua's own patterns with several .* take a time that grows
-- with a power of the name's length, and users choose the names.
local function fits(name, pieces)
  local first, last = pieces[1], pieces[#pieces]
  if #pieces == 1 then
    return name == first
  end
  if name:sub(1, #first) ~= first then
    return false
  end
  local from = #first + 1
  for place = 2, #pieces - 1 do
    local _, stop = name:find(pieces[place], from, true)
    if not stop then
      return false
    end
    from = stop + 1
  end
  return #name - #last + 1 >= from and name:sub(#name - #last + 1) == last
end

-- What a job asks for.

local function count(value, otherwise)
  if type(value) ~= "number" or value < 1 or value == NO_VAL or value == NO_VAL16 then
    return otherwise
  end
  return value
end

-- GPUs in `gres:gpu:2`, `gres/gpu:a100=4`, `gpu`, `craynetwork:1,gpu:1g.5gb:3`, ...
local function gpus_in(request)
  local total = 0
  if type(request) ~= "string" then
    return total
  end
  for part in request:gmatch("[^,]+") do
    local rest = part:gsub("^gres[:/]", ""):match("^gpu(.*)$")
    if rest == "" then
      total = total + 1
    elseif rest and rest:match("^[:=]") then
      total = total + (tonumber(rest:match("[:=](%d+)$")) or 1)
    end
  end
  return total
end

local function gpus_of(job)
  local whole = gpus_in(job.tres_per_job)
  if whole > 0 then
    return whole
  end
  local nodes = count(job.min_nodes, 1)
  local each = gpus_in(job.tres_per_node)
  if each == 0 then
    each = gpus_in(job.tres_per_socket) * count(job.sockets_per_node, 1)
  end
  if each > 0 then
    return each * nodes
  end
  return gpus_in(job.tres_per_task) * count(job.num_tasks, nodes)
end

local function partition_of(job, partitions)
  if job.partition then
    return job.partition:match("^[^,]+")
  end
  for name, partition in pairs(partitions or {}) do
    if partition.flag_default == 1 then
      return name
    end
  end
end

-- The table of first factors: a header with a serial number that the daemon counts up and the time
-- until which it holds, rows of `partition gpus factor`, and `end`. One short read tells whether it
-- is still the same. A daemon that was killed leaves a table behind, which says nothing any more.

local known_serial, known_rows

local function parse(text)
  local rows, finished = {}, false
  for line in text:gmatch("([^\n]*)\n") do
    local partition, gpus, factor = line:match("^(%S+) (%d+) (%-?%d+)$")
    gpus, factor = tonumber(gpus), tonumber(factor)
    if finished then
      return nil
    elseif line == "end" then
      finished = true
    elseif not factor or factor < -MOST_FACTOR or factor > MOST_FACTOR then
      return nil
    else
      rows[partition] = rows[partition] or {}
      table.insert(rows[partition], { gpus = gpus, factor = factor })
    end
  end
  return finished and rows or nil
end

local function first_factors()
  local file = io.open(TABLE, "r")
  if not file then
    known_serial, known_rows = nil, nil
    return nil
  end
  local header = file:read(64) or ""
  local line = header:match("^([^\n]*)\n")
  local serial, holds_until
  if line then
    serial, holds_until = line:match(HEADER)
  end
  if serial and os.time() > tonumber(holds_until) then
    serial = nil
  end
  if not serial or serial ~= known_serial then
    known_serial, known_rows = serial, nil
    if serial then
      local text = header:sub(#line + 2) .. (file:read(MOST_BYTES) or "")
      known_rows = #text <= MOST_BYTES and parse(text) or nil
    end
  end
  file:close()
  return known_rows
end

-- The row for the most GPUs that are not more than the job's.
local function first_factor(partition, gpus)
  local rows, best = first_factors(), nil
  for _, row in ipairs(rows and rows[partition] or {}) do
    if row.gpus <= gpus and (not best or row.gpus > best.gpus) then
      best = row
    end
  end
  return best and best.factor
end

-- Tags.

local function has_promise(job, partition)
  if sla.qos[job.qos or job.default_qos] or sla.account[job.account or job.default_account] then
    return true
  end
  for name in (job.partition or partition or ""):gmatch("[^,]+") do
    if sla.partition[name] then
      return true
    end
  end
  return false
end

local function kind_of(job, gpus)
  local name = (job.name or ""):sub(1, MOST_NAME):lower()
  for _, pattern in ipairs(patterns) do
    if fits(name, pattern.pieces) then
      return pattern.kind
    end
  end
  if not job.script or job.script == "" then
    return "interactive"
  end
  return gpus > 0 and "training" or nil
end

local function add_tag(job, tag)
  local comment = job.admin_comment
  job.admin_comment = comment and comment ~= "" and (comment .. " " .. tag) or tag
end

local function prepare(job, partitions)
  local partition, gpus = partition_of(job, partitions), gpus_of(job)
  local kind = kind_of(job, gpus)
  if kind then
    add_tag(job, "dovetail:kind=" .. kind)
  end
  if has_promise(job, partition) then
    add_tag(job, "dovetail:sla")
    return
  end
  local factor = partition and first_factor(partition, gpus)
  if factor and factor ~= 0 then
    job.site_factor = factor
    -- So that the daemon knows it for its own, and not for an administrator's.
    add_tag(job, "dovetail:first=" .. string.format("%d", factor))
  end
end

function slurm_job_submit(job, partitions, uid)
  if site_submit then
    local answer = site_submit(job, partitions, uid)
    if answer ~= slurm.SUCCESS then
      return answer
    end
  end
  local fine, problem = pcall(prepare, job, partitions)
  if not fine then
    pcall(slurm.log_error, "dovetail: the job is accepted untagged: %.200s", tostring(problem))
  end
  return slurm.SUCCESS
end

function slurm_job_modify(job, record, partitions, uid)
  if site_modify then
    return site_modify(job, record, partitions, uid)
  end
  return slurm.SUCCESS
end

pcall(read_settings)
