from customers.api.views import CustomerViewSet
from payments.api.urls import OptionalSlashRouter

router = OptionalSlashRouter()
router.register("customers", CustomerViewSet, basename="customer")

urlpatterns = router.urls
