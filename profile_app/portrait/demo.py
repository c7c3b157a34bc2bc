"""The demo's profile; what the owner has said stays."""

from collections.abc import Iterator

from django.utils.translation import gettext_lazy as _
from pydantic import BaseModel

from minara_site.access.models import User
from minara_site.kernel.demo import DemoLoad, DemoPart, DemoRow, RemovedRows, read_rows
from profile_app.documents.core import CUSTOM_PROMPT, PROFILE_SUMMARY, DocumentKind, Origin
from profile_app.documents.demo import find_changed, store_text
from profile_app.documents.models import Document
from profile_app.documents.selectors import find_document
from profile_app.portrait.core.profile import PLATFORM_SUMMARY
from profile_app.portrait.core.wallets import Wallet, dump_wallets
from profile_app.portrait.models import FinancialProfile
from profile_app.portrait.selectors.profile import load_profile
from profile_app.portrait.services.profile import set_reference_wallets

NO_WALLETS = "[]"
MOMENTS = ("created_at", "updated_at")


class DemoWallet(BaseModel, frozen=True):
    """A wallet to follow."""

    address: str
    label: str


class DemoProfile(DemoRow):
    """The texts and the wallets of an owner."""

    custom_prompt: str
    platform_wallet_summary: str
    wallets: tuple[DemoWallet, ...]

    @property
    def texts(self) -> Iterator[tuple[DocumentKind, str, str, Origin]]:
        """The texts: kind, name, content, and through what they came in."""
        yield DocumentKind.CUSTOM_PROMPT, CUSTOM_PROMPT, self.custom_prompt.strip(), Origin.PAGE
        yield DocumentKind.PROFILE_SUMMARY, PLATFORM_SUMMARY, self.platform_wallet_summary.strip(), Origin.SERVICE

    @property
    def stored_wallets(self) -> str:
        """The wallets as their column holds them."""
        return dump_wallets(Wallet(each.address, each.label) for each in self.wallets)


class FinancialProfilePart(DemoPart[DemoProfile]):
    """Custom prompt, trading summary and reference wallets. The row is marked where the load made it."""

    name, rows = "financial_profile", read_rows(DemoProfile, __package__)

    def store(self, load: DemoLoad, owner: User, row: DemoProfile) -> None:
        is_new = not FinancialProfile.objects.filter(pk=owner.pk).exists()
        for kind, name, content, origin in row.texts:
            if find_document(owner=owner, kind=kind, name=name) is None:
                store_text(
                    load,
                    owner,
                    row,
                    kind=kind,
                    name=name,
                    content=content,
                    origin=origin,
                )
        if load_profile(owner.pk).reference_wallets_json == NO_WALLETS:
            wallets = [Wallet(each.address, each.label) for each in row.wallets]
            set_reference_wallets(
                owner=owner,
                wallets=wallets,
                actor=load.actor,
                now=load.now,
            )
        if is_new:
            load.mark(load_profile(owner.pk))

    def remove(self, load: DemoLoad) -> list[RemovedRows]:
        texts = Document.objects.filter(is_demo=True, kind__in=(CUSTOM_PROMPT, PROFILE_SUMMARY))
        kept = find_changed(texts)
        gone = texts.exclude(pk__in=kept)
        for document in gone:
            column = CUSTOM_PROMPT if document.kind == CUSTOM_PROMPT else document.name
            FinancialProfile.objects.filter(pk=document.owner_id).update(**{column: ""})
        removed = RemovedRows(_("Texts of the profile"), gone.count(), len(kept))
        gone.delete()
        texts.update(is_demo=False)
        for name, rows in self.rows.items():
            own = FinancialProfile.objects.filter(pk=load.people[name].pk)
            own.filter(reference_wallets_json=rows[0].stored_wallets).update(reference_wallets_json=NO_WALLETS)
        untouched = [profile.pk for profile in load.marked(FinancialProfile) if says_nothing(profile)]
        FinancialProfile.objects.filter(pk__in=untouched).delete()
        return [removed]


def says_nothing(profile: FinancialProfile) -> bool:
    """Say whether a row is as one that was just made."""
    new = FinancialProfile(owner_id=profile.pk)
    columns = [each.attname for each in FinancialProfile._meta.fields if each.name not in MOMENTS]  # noqa: SLF001
    return all(getattr(profile, column) == getattr(new, column) for column in columns)
