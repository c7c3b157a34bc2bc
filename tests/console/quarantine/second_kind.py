"""Another kind of items that wait: lessons, which are accepted into the trash. The queue knows it by its name alone."""

from typing import Any

from memory_app.memories.models import Memory
from minara_site.kernel.errors import Conflict
from minara_site.shell.review import ReviewItem, ReviewKind, ReviewPane, Undone, Verdict


class LessonReview(ReviewKind):
    name, tab, label, since = "lesson", "lessons", "Lessons", "created_at"
    accept, refuse = "Approve", "Reject"

    def waiting(self) -> Any:
        return Memory.objects.live().filter(category="lesson")

    def find(self, keys: Any) -> Any:
        return list(Memory.objects.filter(pk__in=keys))

    def show_rows(self, rows: Any, *, principal: Any) -> Any:
        return [
            ReviewItem(
                self.name,
                str(row.pk),
                row.created_at,
                f"Lesson {row.pk}",
                "Lesson",
                "new",
                row.content,
                row,
            )
            for row in rows
        ]

    def show(self, item: Any, *, principal: Any) -> Any:
        accept, refuse = (Verdict(verb, "check", f"If you {verb}", "It goes") for verb in (self.accept, self.refuse))
        return ReviewPane("parts/review_item.html", {}, accept, refuse)

    def decided_url(self, row: Any) -> str:
        return f"/memories/{row.pk}/"

    def decide(self, keys: Any, *, accepts: bool, principal: Any, note: str, now: Any) -> str:
        if self.waiting().filter(pk__in=keys).update(deleted_at=now, batch="b") != len(keys):
            raise Conflict("Another was faster.")
        return f"Moved {len(keys)} lessons."

    def undo(self, key: str, *, principal: Any, now: Any) -> Undone:
        count = Memory.objects.filter(batch="b").update(deleted_at=None, batch=None)
        return Undone(f"{count} lessons are back.", key)

    def find_newest_decision(self) -> None:
        return None
