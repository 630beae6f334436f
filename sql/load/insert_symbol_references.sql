-- What does each use of a name mean? By name and imports alone; `tier` says how sure that is, from the surest:
-- same file, imported, same package, unique in repository (a guess), ambiguous, external.
insert into symbol_references
with
imported_uses as (
    select
        number,
        snapshot_id,
        family,
        qualifier,
        inner_qualifier,
        origin.target_path as target_path,
        coalesce(origin.name, '') as target_scope,
        case
            when qualifier is null and origin.name <> 'default' then coalesce(origin.name, name)
            else name
        end as target_name,
        case
            when regexp_matches(origin.target_path, '(^|/)(__init__|index)\.[^/]*$')
            then regexp_replace(origin.target_path, '[^/]*$', '')
        end as target_package,
    from uses
    where origin.target_path is not null
),

-- what a package holds at any depth: only packages that are imported from, for a row for each folder above
-- each target would be many
packages as (
    select distinct
        snapshot_id,
        target_package as package,
    from imported_uses
    where target_package is not null
),

package_folders as (
    select
        p.snapshot_id,
        p.package,
        f.folder,
    from (select distinct snapshot_id, folder from reference_targets) as f
    inner join packages as p
        on p.snapshot_id = f.snapshot_id
        and starts_with(f.folder, p.package)
),

targets_by_package as (
    select
        p.package,
        t.*,
    from reference_targets as t
    inner join package_folders as p
        on p.snapshot_id = t.snapshot_id
        and p.folder = t.folder
),

candidates as (
    -- plain names of this file: what stands at its top, or beside or inside the definition around
    select
        u.number,
        0 as precedence,
        t.path,
        t.symbol,
        t.chunk_id,
        t.start_line,
    from uses as u
    inner join reference_targets as t
        on t.snapshot_id = u.snapshot_id
        and t.path = u.path
        and t.name = u.name
    where u.qualifier is null
        and u.origin is null
        and (not t.is_member or u.family = 'java')
        and (t.scope = '' or starts_with(u.symbol || '.', t.scope || '.'))
    union all
    -- members of the class around, and of a class of this file that is named
    select
        u.number,
        0 as precedence,
        t.path,
        t.symbol,
        t.chunk_id,
        t.start_line,
    from uses as u
    inner join reference_targets as t
        on t.snapshot_id = u.snapshot_id
        and t.path = u.path
        and t.name = u.name
    where u.qualifier is not null
        and u.origin is null
        and t.scope <> ''
        and (t.scope = u.qualifier or (u.is_own and starts_with(u.symbol || '.', t.scope || '.')))
    union all
    -- names imported from a file of the repository, and what is a member of them
    select
        w.number,
        1 as precedence,
        t.path,
        t.symbol,
        t.chunk_id,
        t.start_line,
    from imported_uses as w
    inner join reference_targets as t
        on t.snapshot_id = w.snapshot_id
        and t.family = w.family
        and t.path = w.target_path
        and t.name = w.target_name
    where if(w.qualifier is null, not t.is_member, t.scope in (w.inner_qualifier, w.target_scope))
    union all
    -- from a folder
    select
        w.number,
        1 as precedence,
        t.path,
        t.symbol,
        t.chunk_id,
        t.start_line,
    from imported_uses as w
    inner join reference_targets as t
        on t.snapshot_id = w.snapshot_id
        and t.family = w.family
        and t.folder = w.target_path
        and t.name = w.target_name
    where if(w.qualifier is null, not t.is_member, t.scope in (w.inner_qualifier, w.target_scope))
    union all
    -- from a file that hands on what its folder holds
    select
        w.number,
        2 as precedence,
        t.path,
        t.symbol,
        t.chunk_id,
        t.start_line,
    from imported_uses as w
    inner join targets_by_package as t
        on t.snapshot_id = w.snapshot_id
        and t.family = w.family
        and t.package = w.target_package
        and t.name = w.target_name
    where if(w.qualifier is null, not t.is_member, t.scope in (w.inner_qualifier, w.target_scope))
    union all
    -- names of the same folder, where files of a folder see one another's
    select
        u.number,
        3 as precedence,
        t.path,
        t.symbol,
        t.chunk_id,
        t.start_line,
    from uses as u
    inner join reference_targets as t
        on t.snapshot_id = u.snapshot_id
        and t.family = u.family
        and t.folder = u.folder
        and t.name = u.name
    where u.family in ('go', 'java')
        and u.origin is null
        and ((u.qualifier is null and t.scope = '') or t.scope = u.qualifier)
),

-- what only a name leads to: members for an unknown receiver, else what is none
named as (
    select
        snapshot_id,
        family,
        name,
        is_member,
        count(distinct (path, symbol)) as target_count,
        arg_min(struct_pack(path, symbol, chunk_id), (path, start_line)) as target,
    from reference_targets
    group by snapshot_id, family, name, is_member
),

nearest as (
    select
        number,
        precedence,
        count(distinct (path, symbol)) as target_count,
        arg_min(struct_pack(path, symbol, chunk_id), (path, start_line)) as target,
    from candidates
    group by number, precedence
    qualify precedence = min(precedence) over (partition by number)
),

resolved as (
    select
        u.*,
        case
            when n.target_count = 1 and n.precedence = 0 then 'same file'
            when n.target_count = 1 and n.precedence < 3 then 'imported'
            when n.target_count = 1 then 'same package'
            when n.target_count > 1 then 'ambiguous'
            when u.origin is not null and u.origin.target_path is null then 'external'
            -- its own name on another object: it may hand the call on, as `c.Request.FormFile` in `Context.FormFile`
            when g.target_count = 1 and g.target.path = u.path and g.target.symbol = u.symbol then 'ambiguous'
            when g.target_count = 1 then 'unique in repository'
            when g.target_count > 1 then 'ambiguous'
            when u.origin is not null and (u.qualifier is null or u.origin.name is null) then 'imported'
        end as tier,
        case
            when n.target_count = 1 then n.target
            when tier = 'unique in repository' then g.target
        end as target,
    from uses as u
    left join nearest as n on n.number = u.number
    left join named as g
        on g.snapshot_id = u.snapshot_id
        and g.family = u.family
        and g.name = u.name
        and g.is_member = (u.qualifier is not null and (u.origin is null or u.origin.name is not null))
)

select
    snapshot_id,
    path,
    line,
    chunk_id,
    symbol,
    kind,
    name,
    qualifier,
    tier,
    coalesce(target.path, if(tier = 'imported', origin.target_path, null)) as target_path,
    target.symbol as target_symbol,
    target.chunk_id as target_chunk_id,
from resolved
where tier is not null
order by number;
