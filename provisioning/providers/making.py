"""The provider that settings describe."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from provisioning.providers.book_store import BookFile, still_open
from provisioning.providers.booked_provider import BookedProvider
from provisioning.providers.command import CommandMachines, Commands, Naming
from provisioning.providers.command_settings import CommandSettings
from provisioning.providers.lab import lab_machines
from provisioning.providers.provider import HostOffer
from provisioning.providers.settings import HttpSettings, LabSettings, SimulatedSettings
from provisioning.providers.simulated import BootChances, SimulatedMachines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from provisioning.providers.machines import Machines
    from provisioning.providers.provider import IsBusy, Provider
    from provisioning.providers.settings import ProviderSettings

_LEASES = "leases.json"


def make_provider(settings: ProviderSettings, state_folder: Path, busy: IsBusy) -> Provider:
    """Make a provider; its leases are those of `leases.json` in the state folder.

    Args:
        settings: What it is.
        state_folder: Folder of its file; made if it is not there.
        busy: Says whether workers run on a host.

    Raises:
        ProviderError: A file that the settings name is missing or faulty.
    """
    table = settings.provider
    offers = [HostOffer(name, **each.model_dump()) for name, each in settings.offer.items()]
    return BookedProvider(
        _machines(table, offers),
        BookFile(state_folder / _LEASES, table.kind),
        busy,
        bill_from=table.bill_from,
        boot_limit_s=table.boot_limit_s,
    )


def still_leased(state_folder: Path) -> int:
    """Return how many hosts of a state folder are leased, whatever the provider is.

    Raises:
        ProviderError: That cannot be read.
    """
    return still_open(state_folder / _LEASES)


def _machines(
    table: SimulatedSettings | CommandSettings | LabSettings | HttpSettings, offers: Sequence[HostOffer]
) -> Machines:
    match table:
        case SimulatedSettings():
            chances = BootChances(table.boot_sigma, table.failed_share, table.delayed_share, table.delay_s)
            return SimulatedMachines(offers, table.seed, chances, table.hosts_max)
        case CommandSettings():
            commands = Commands(
                table.start_command,
                table.stop_command,
                table.status_command,
                table.list_command,
                table.ready_states,
                table.lost_states,
                table.command_limit_s,
                table.unclear_statuses,
            )
            return CommandMachines(
                offers, commands, Naming(table.host_pattern, table.hosts, table.name_rest_s)
            )
        case LabSettings():
            return lab_machines(
                offers,
                Path(table.sites),
                table.program,
                options=() if table.folder is None else ("--dir", table.folder),
                added_boot_s=table.added_boot_s,
                rest_s=table.name_rest_s,
                limit_s=table.command_limit_s,
            )
        case HttpSettings():
            # requests comes with an extra that other providers do not need
            from provisioning.providers.http import HttpMachines  # noqa: PLC0415
            from provisioning.providers.rest_calls import CallLimits, RestCalls  # noqa: PLC0415

            limits = CallLimits(
                table.connect_limit_s, table.read_limit_s, table.call_limit_s, table.retries, table.backoff_s
            )
            token = None if table.token_file is None else Path(table.token_file)
            return HttpMachines(RestCalls(table.url, limits, token))
