"""The pages: server-rendered HTML over the same service functions as the API."""

from app.pages.access import sign_in_page
from app.pages.problems import problem_page
from app.pages.site import mount_pages

__all__ = ["mount_pages", "problem_page", "sign_in_page"]
